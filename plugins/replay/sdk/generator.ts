import type { RecordedSpan } from './span.ts'

type AnyGenerator = Generator | AsyncGenerator
type Step = IteratorResult<unknown>

/** True for an object that a generator function makes. A stream with an iterator is none: it has a life of its own. */
export const isGenerator = (value: unknown): value is AnyGenerator =>
  typeof value === 'object' &&
  value !== null &&
  (Symbol.asyncIterator in value || Symbol.iterator in value) &&
  (['next', 'return', 'throw'] as const).every((name) => typeof Reflect.get(value, name) === 'function')

/** The same generator, whose steps run as `within` says. The span ends with the generator. */
export const watchedGenerator = <G extends AnyGenerator>(
  generator: G,
  span: RecordedSpan,
  within: <T>(work: () => T) => T,
): G => {
  const ended = (step: Step): Step => {
    if (step.done === true) span.end()
    return step
  }
  const failed = (error: unknown): never => {
    span.leave(error)
    throw error
  }
  const stepOf = (name: 'next' | 'return' | 'throw') => ({
    value: (...values: readonly unknown[]): Step | Promise<Step> =>
      within(() => {
        try {
          const step = Reflect.apply(generator[name], generator, values) as Step | Promise<Step>
          return step instanceof Promise ? step.then(ended, failed) : ended(step)
        } catch (error) {
          return failed(error)
        }
      }),
  })
  return Object.create(Object.getPrototypeOf(generator), {
    next: stepOf('next'),
    return: stepOf('return'),
    throw: stepOf('throw'),
  })
}
