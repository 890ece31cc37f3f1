/** What tinybench takes from a task that measured itself: milliseconds an operation, and for all of them. */
export interface Measured {
  readonly overriddenDuration: number
  readonly overriddenIterationCost: number
}

/** Where results go so that no engine can leave the work out. */
export const sink: { value: unknown } = { value: undefined }

/** A task that runs the work so many times, far above the timer's grain, and reports the time of one. */
export const times =
  (count: number, work: (index: number) => unknown): (() => Measured) =>
  () => {
    const start = performance.now()
    for (let index = 0; index < count; index++) sink.value = work(index)
    const spent = performance.now() - start
    return { overriddenDuration: spent / count, overriddenIterationCost: spent }
  }

/** The same for work that is waited for; `together` of them are in progress at once. */
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
