import { PassThrough } from 'node:stream'
import { type Gateway, GuardError, writeJson } from 'guard-gateway/core'
import type { RunRow } from './tables.ts'
import { writer } from './writer.ts'

const MAX_LISTENERS = 32
/** At most four messages a second for each run. */
const GATHER_MS = 250
const COMMENT_MS = 15_000
const POLL_MS = 2_000
const MAX_UNSENT = 65_536
const POLL_ROWS = 200
const NS = 1_000_000n

/** What a listener wants: changed runs, or every kept event. */
export type StreamKind = 'runs' | 'events'

/** Tells those who listen what is written. */
export class Stream {
  readonly #gateway: Gateway
  readonly #listeners = new Map<PassThrough, StreamKind>()
  readonly #changed = new Map<string, RunRow>()
  #begun = false
  #gathering: NodeJS.Timeout | undefined
  #timers: readonly NodeJS.Timeout[] = []
  #polled_ns = 0n

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  get size(): number {
    return this.#listeners.size
  }

  /** Whether anybody wants events. */
  get wantsEvents(): boolean {
    for (const kind of this.#listeners.values()) if (kind === 'events') return true
    return false
  }

  /** A new listener's bytes; `close` it when its connection ends. `after`: the id of the last message it got. Throws STREAM_FULL. */
  open(kind: StreamKind, after?: bigint): PassThrough {
    if (this.#listeners.size >= MAX_LISTENERS) throw new GuardError('STREAM_FULL')
    const stream = new PassThrough({ highWaterMark: MAX_UNSENT })
    this.#listeners.set(stream, kind)
    stream.on('error', () => {})
    stream.once('close', () => this.close(stream))
    if (this.#listeners.size === 1) this.#begin()
    stream.write(': listening\n\n')
    if (kind === 'runs' && after !== undefined) void this.#catchUp(stream, after)
    return stream
  }

  close(stream: PassThrough): void {
    if (!this.#listeners.delete(stream)) return
    stream.destroy()
    if (this.#listeners.size === 0) this.#pause()
  }

  /** A run was written. */
  runWritten(row: RunRow): void {
    if (this.#listeners.size === 0) return
    this.#changed.set(row.trace_id, row)
    this.#gathering ??= setTimeout(() => this.#flush(), GATHER_MS).unref()
  }

  /** A model request has begun, of which nothing is written yet. */
  callBegun(): void {
    if (this.#listeners.size === 0) return
    this.#begun = true
    this.#gathering ??= setTimeout(() => this.#flush(), GATHER_MS).unref()
  }

  /** An event was kept; `event` is in the form of event.v1. */
  eventKept(event: object): void {
    this.#send('events', `event: event\ndata: ${writeJson(event)}\n\n`)
  }

  /** Ends all streams. */
  end(): void {
    for (const stream of this.#listeners.keys()) stream.end()
    this.#listeners.clear()
    this.#pause()
  }

  #flush(): void {
    this.#gathering = undefined
    // in order, so that the last id a listener got is behind all that it got
    const rows = [...this.#changed.values()].sort((a, b) => Number(a.updated_ns - b.updated_ns))
    this.#changed.clear()
    const begun = this.#begun ? 'event: call.begun\ndata: {}\n\n' : ''
    this.#begun = false
    this.#send('runs', rows.map(messageOf).join('') + begun)
  }

  #send(kind: StreamKind | undefined, text: string): void {
    if (text === '') return
    for (const [stream, wanted] of this.#listeners) {
      if (kind !== undefined && wanted !== kind) continue
      if (stream.writableLength + stream.readableLength > MAX_UNSENT) this.close(stream)
      else stream.write(text)
    }
  }

  /** What was written since a listener's last message: once more, rather than never. */
  async #catchUp(stream: PassThrough, after: bigint): Promise<void> {
    try {
      const rows = await this.#since(after)
      if (this.#listeners.has(stream)) stream.write(rows.map(messageOf).join(''))
    } catch (error) {
      this.#gateway.fault(error, 'replay:stream')
    }
  }

  async #since(updated_ns: bigint): Promise<readonly RunRow[]> {
    const { rows } = await this.#gateway.storage.find('runs', {
      where: { updated_ns: { gte: updated_ns } },
      order: ['updated_ns', 'asc'],
      limit: POLL_ROWS,
    })
    return rows
  }

  #begin(): void {
    this.#polled_ns = BigInt(this.#gateway.clock.now()) * NS
    this.#timers = [
      setInterval(() => this.#send(undefined, ': still here\n\n'), COMMENT_MS).unref(),
      setInterval(() => void this.poll(), POLL_MS).unref(),
    ]
  }

  #pause(): void {
    for (const timer of this.#timers) clearInterval(timer)
    this.#timers = []
    clearTimeout(this.#gathering)
    this.#gathering = undefined
    this.#changed.clear()
  }

  /** Looks for what other processes have written since the last look. */
  async poll(): Promise<void> {
    try {
      const rows = await this.#since(this.#polled_ns)
      for (const row of rows) if (row.writer !== writer) this.runWritten(row)
      this.#polled_ns = (rows.at(-1)?.updated_ns ?? this.#polled_ns - 1n) + 1n
    } catch (error) {
      this.#gateway.fault(error, 'replay:stream')
    }
  }
}

/** A changed run; its id is when it changed. */
const messageOf = ({ trace_id, project_id, session_id, origin, status, revision, updated_ns }: RunRow): string => {
  const data = writeJson({ trace_id, project_id, session_id, origin, status, revision })
  return `id: ${updated_ns}\nevent: run.updated\ndata: ${data}\n\n`
}
