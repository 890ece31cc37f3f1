import { AsyncLocalStorage } from 'node:async_hooks'
import type { Attributes, Trace, TraceOptions } from './api.ts'
import { AttributeSet } from './attribute-set.ts'
import { newSpanId } from './ids.ts'
import type { Recording } from './recording.ts'
import type { TraceRecord } from './records.ts'
import type { Report } from './reports.ts'
import { boundedText } from './snapshot.ts'
import { RecordedSpan, type SpanHost } from './span.ts'
import type { TraceFactory } from './trace-factory.ts'

export interface TracerOptions {
  readonly report: Report
  readonly traceFactory: TraceFactory
  /** Records an ended span; false if the guard is disabled. */
  readonly add: (recording: Recording, record: TraceRecord) => void
  /** Resolves when the trace is ingested, or after the maximum wait. */
  readonly ingested: (recording: Recording) => Promise<void>
}

/** Opens traces and spans, tracks the current one, and ends them. */
export class Tracer implements SpanHost {
  readonly report: Report
  readonly thrown = new WeakMap<object, RecordedSpan>()
  readonly add: TracerOptions['add']
  readonly #options: TracerOptions
  readonly #context = new AsyncLocalStorage<RecordedSpan>()
  readonly #open = new Set<RecordedSpan>()

  constructor(options: TracerOptions) {
    this.#options = options
    this.report = options.report
    this.add = options.add
  }

  get current(): RecordedSpan | undefined {
    return this.#context.getStore()
  }
  get hasOpen(): boolean {
    return this.#open.size > 0
  }

  async trace<T>(name: string, options: TraceOptions | undefined, fn: (trace: Trace) => T): Promise<Awaited<T>> {
    const root = this.#root(name, options)
    let result: Awaited<T>
    try {
      result = await this.#context.run(root, fn, root)
    } catch (error) {
      root.leave(error)
      await this.#options.ingested(root.recording)
      throw error
    }
    root.end()
    return result
  }

  span<T>(
    name: string,
    attributes: Attributes | undefined,
    fn: (span: RecordedSpan) => T,
    parent: RecordedSpan | undefined = this.current,
  ): T {
    const span = this.start(name, attributes, parent, false)
    let result: T
    try {
      result = this.#context.run(span, fn, span)
    } catch (error) {
      span.leave(error)
      throw error
    }
    if (isThenable(result)) return watched(result, span)
    if (isGenerator(result)) return watchedGenerator(result, span, (work) => this.#context.run(span, work))
    span.end()
    return result
  }

  start(
    name: string,
    attributes: Attributes | undefined,
    parent: RecordedSpan | undefined,
    byHand: boolean,
  ): RecordedSpan {
    const above = parent ?? this.#root(name, undefined)
    const { recording } = above
    const attributeSet = new AttributeSet()
    attributeSet.add(attributes)
    const span = new RecordedSpan(this, {
      recording,
      record: {
        kind: 'span',
        id: newSpanId(),
        parent_id: above.id,
        name: boundedText(String(name)),
        start_ns: recording.clock(),
        end_ns: undefined,
        status: 'ok',
        message: undefined,
        attributeSet,
      },
      above,
      alone: parent === undefined ? above : undefined,
      byHand,
    })
    this.#open.add(span)
    return span
  }

  ended(span: RecordedSpan): void {
    this.#open.delete(span)
  }

  /** Cancels every open span, children first. */
  cancelAll(by: string): void {
    for (const span of [...this.#open].reverse()) span.cancel(by)
  }

  #root(name: string, options: TraceOptions | undefined): RecordedSpan {
    const recording = this.#options.traceFactory.open(name, options)
    const root = new RecordedSpan(this, { recording, record: recording.root, above: this.current })
    this.#open.add(root)
    return root
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  (typeof value === 'object' || typeof value === 'function') &&
  value !== null &&
  'then' in value &&
  typeof value.then === 'function'

/** Returns the same promise and ends the span when it settles. Another thenable becomes a promise, because some start work on each `then`. */
const watched = <T>(result: T & PromiseLike<unknown>, span: RecordedSpan): T => {
  const promise = result instanceof Promise ? result : Promise.resolve(result)
  promise.then(
    () => span.end(),
    (error: unknown) => span.leave(error),
  )
  return promise as T & Promise<unknown>
}

type AnyGenerator = Generator | AsyncGenerator
type Step = IteratorResult<unknown>

/** True for an object that a generator function makes. A stream with an iterator is none: it has a life of its own. */
const isGenerator = (value: unknown): value is AnyGenerator =>
  typeof value === 'object' &&
  value !== null &&
  (Symbol.asyncIterator in value || Symbol.iterator in value) &&
  (['next', 'return', 'throw'] as const).every((name) => typeof Reflect.get(value, name) === 'function')

/** The same generator, whose steps run as `within` says. The span ends with the generator. */
const watchedGenerator = <G extends AnyGenerator>(
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
