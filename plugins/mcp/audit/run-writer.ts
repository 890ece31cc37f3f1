import {
  type Change,
  type Fragment,
  type FragmentEvent,
  type FragmentRun,
  type Gateway,
  GuardError,
  type Origin,
  type SpanDraft,
} from 'guard-gateway/core'

/** What one call or decision adds to a run, with the rows that commit in the same write. */
export interface RunUpdate {
  readonly origin: Origin
  readonly run: FragmentRun
  readonly spans: readonly SpanDraft[]
  readonly events: readonly FragmentEvent[]
  readonly rows: readonly Change[]
  /** Its spans and events say all there is to say of them. */
  readonly whole: boolean
  /** Some row is written under a condition, so nothing else may fail with it. */
  readonly conditional: boolean
}

interface Waiting {
  readonly update: RunUpdate
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** How long writes that nothing awaits may be batched, in milliseconds. */
const GATHER_MS = 20
const MAX_BATCH = 64

/** What is written to one run, batch after batch: what comes while one is in progress goes into the next. */
export class RunWriter {
  readonly #gateway: Gateway
  readonly #idle: () => void
  readonly #waiting: Waiting[] = []
  #urgent = 0
  #busy: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  /** `idle` is called when nothing waits any more. */
  constructor(gateway: Gateway, idle: () => void) {
    this.#gateway = gateway
    this.#idle = idle
  }

  /** Resolves when the update is durable; rejects with why it is not. An urgent one is written at once. */
  add(update: RunUpdate, urgent: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ update, resolve, reject })
      if (urgent) this.#urgent++
      if (this.#busy !== undefined) return
      if (urgent) this.#start()
      else this.#timer ??= setTimeout(() => this.#start(), GATHER_MS).unref()
    })
  }

  /** Writes everything that waits. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#busy !== undefined) {
      this.#start()
      await this.#busy
    }
  }

  #start(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#busy ??= this.#run()
  }

  async #run(): Promise<void> {
    do {
      const batch = this.#next()
      try {
        await keepRows(this.#gateway, merged(batch.map(({ update }) => update)))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    } while (this.#urgent > 0)
    this.#busy = undefined
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#start(), GATHER_MS).unref()
    else this.#idle()
  }

  /** The longest beginning of what waits that may be written together. */
  #next(): Waiting[] {
    const lone = this.#waiting.findIndex(({ update }) => update.conditional)
    const count = lone === 0 ? 1 : Math.min(MAX_BATCH, lone === -1 ? this.#waiting.length : lone)
    const batch = this.#waiting.splice(0, count)
    if (this.#waiting.length === 0) this.#urgent = 0
    return batch
  }
}

/** One fragment of several; a span that is spoken of twice is one. */
const merged = (pieces: readonly RunUpdate[]): Fragment => {
  const [first] = pieces
  if (first === undefined) throw new TypeError('There is nothing to write.')
  const run = { ...first.run }
  for (const update of pieces) Object.assign(run, update.run)
  const spans = new Map<string, SpanDraft>()
  for (const span of pieces.flatMap((update) => update.spans)) {
    const before = spans.get(span.id)
    spans.set(
      span.id,
      before === undefined ? span : { ...before, ...span, attributes: { ...before.attributes, ...span.attributes } },
    )
  }
  return {
    owner: 'mcp',
    origin: first.origin,
    run,
    spans: [...spans.values()],
    events: pieces.flatMap(({ events }) => events),
    artifacts: [],
    whole: pieces.every(({ whole }) => whole),
    rows: pieces.flatMap(({ rows }) => rows),
  }
}

/** What may be wrong with a run costs its calls their trace, not their record. */
const ofTheRun: ReadonlySet<string> = new Set([
  'EVENT_IMMUTABLE',
  'INVALID_TIME',
  'INVALID_TRACE',
  'RUN_FULL',
  'SPAN_IMMUTABLE',
  'TOO_DEEP',
  'TOO_MANY_ATTRIBUTES',
  'TRACE_CONFLICT',
])

const keepRows = async (gateway: Gateway, fragment: Fragment): Promise<void> => {
  try {
    await gateway.keep([fragment])
  } catch (error) {
    if (!(error instanceof GuardError) || !ofTheRun.has(error.code)) throw error
    gateway.fault(error, 'mcp:trace')
    if (!(await gateway.storage.write(fragment.rows ?? []))) throw new GuardError('STORAGE_BUSY')
  }
}
