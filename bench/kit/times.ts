/** The result of a task that measures itself, for tinybench: milliseconds per operation and in total. */
export interface Measured {
  readonly overriddenDuration: number
  readonly overriddenIterationCost: number
}

/** A sink for results, so that the engine cannot optimise the work away. */
export const sink: { value: unknown } = { value: undefined }

/** A task that repeats the work `count` times, far above the timer resolution, and returns the time of one repetition. */
export const times =
  (count: number, work: (index: number) => unknown): (() => Measured) =>
  () => {
    const start = performance.now()
    for (let index = 0; index < count; index++) sink.value = work(index)
    const spent = performance.now() - start
    return { overriddenDuration: spent / count, overriddenIterationCost: spent }
  }

/** The asynchronous variant. `together` operations are in progress at once. */
export const timesAsync =
  (count: number, work: (index: number) => Promise<unknown>, together = 1): (() => Promise<Measured>) =>
  async () => {
    const start = performance.now()
    for (let index = 0; index < count; index += together) {
      if (together === 1) sink.value = await work(index)
      else sink.value = await Promise.all(Array.from({ length: together }, (_, offset) => work(index + offset)))
    }
    const spent = performance.now() - start
    return { overriddenDuration: spent / count, overriddenIterationCost: spent }
  }
