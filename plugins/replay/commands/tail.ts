import { text } from 'node:stream/consumers'
import type { Clock } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import type { AskStream, Input, Io } from '#lib/command'
import { readJson, writeJson } from '#lib/json'
import { type Colour, colourOf, listedId, painter } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import type { TraceEvent } from '#lib/trace'
import type { RunSummary } from '#lib/trace-file'
import { eventV1 } from '../stream/events.ts'
import type { ReplayCommandOptions } from './command-options.ts'
import { listen, type Message } from './listen.ts'
import { isTerminal } from './terminal.ts'

/** Limit of remembered runs, whose unchanged status is not printed again. */
const MAX_KNOWN = 10_000

/** The part of a process that delivers signals. */
export type Interrupted = Pick<NodeJS.Process, 'once' | 'off'>

/** Prints runs and decisions as they are stored, until interrupted or until the reader closes, which is no error. Throws GATEWAY_NOT_RUNNING. */
export const tailRuns = async (
  { now }: Pick<Clock, 'now'>,
  { asking, running }: ReplayCommandOptions,
  input: Input,
  io: Io,
  process: Interrupted = globalThis.process,
): Promise<number> => {
  const address = await running()
  const ending = new AbortController()
  const end = (): void => ending.abort()
  process.once('SIGINT', end).once('SIGTERM', end)
  io.out.once('error', end)
  try {
    const tail = new Tail(input, io, now)
    const streams = input.options.decisions === true ? ['events'] : ['runs', 'events']
    const following = streams.map((kind) => tail.follow(`${address}/api/v1/stream?kind=${kind}`, ending.signal))
    // an error of one stream ends the other
    for (const one of following) one.catch(end)
    if (input.options.since !== undefined) await asking((ask) => tail.past(ask))
    await Promise.all(following)
    return 0
  } finally {
    end()
    process.off('SIGINT', end).off('SIGTERM', end)
    io.out.off('error', end)
  }
}

/** Filters and prints messages. */
class Tail {
  readonly #input: Input
  readonly #io: Io
  readonly #now: () => number
  readonly #paint: ReturnType<typeof painter>
  readonly #known = new LRU<string>(MAX_KNOWN)

  constructor(input: Input, io: Io, now: () => number) {
    this.#input = input
    this.#io = io
    this.#now = now
    this.#paint = painter(input, io)
  }

  async follow(url: string, signal: AbortSignal): Promise<void> {
    const remark = (line: string) => () => {
      if (this.#input.options.quiet !== true) this.#io.err.write(`${line}\n`)
    }
    const onLost = remark('The gateway is gone; trying to reach it again.')
    const onBack = remark('The gateway answers again.')
    const onReset = remark(
      'What was stored meanwhile is not all known any more; runs of that time follow, decisions may be missing.',
    )
    for await (const message of listen(url, {
      key: this.#io.env.GUARD_ACCESS_KEY,
      signal,
      onLost,
      onReconnected: onBack,
    })) {
      if (message.event === 'reset') onReset()
      else this.#tell(message)
    }
  }

  /** Prints earlier runs, oldest first, or their decisions. */
  async past(ask: AskStream): Promise<void> {
    const { since, project, session, decisions } = this.#input.options
    const query = new URLSearchParams({ since: String(since), sort: 'start', order: 'asc', limit: '200' })
    if (project !== undefined) query.set('project_id', String(project))
    if (session !== undefined) query.set('session_id', String(session))
    for (let cursor: string | null = ''; cursor !== null; ) {
      if (cursor !== '') query.set('cursor', cursor)
      const page = readJson(await text(await ask('GET', `/api/v1/runs?${query}`))) as Page
      for (const run of page.runs) await (decisions === true ? this.#pastDecisions(ask, run) : this.#pastRun(run))
      cursor = page.next_cursor
    }
  }

  async #pastRun(run: RunSummary): Promise<void> {
    this.#run(run, Number(BigInt(run.start_ns) / 1_000_000n))
  }

  async #pastDecisions(ask: AskStream, run: RunSummary): Promise<void> {
    const path = `/api/v1/runs/${encodeURIComponent(run.trace_id)}`
    const { spans, events } = readJson(await text(await ask('GET', path))) as Bundle
    for (const span of [...spans, { id: null, events }])
      for (const event of span.events)
        this.#decision(eventV1({ ...event, time_ns: BigInt(event.time_ns), span_id: span.id }, run))
  }

  #tell({ event, data }: Message): void {
    if (event === 'run.updated') this.#run(readJson(data) as StreamRun, this.#now())
    else if (event === 'event') this.#decision(readJson(data) as StreamDecision)
  }

  #run(run: StreamRun, at: number): void {
    if (!this.#matches(run)) return
    if (this.#input.options.json === true) this.#io.out.write(`${writeJson(run)}\n`)
    else if (this.#isNew(run)) this.#io.out.write(`${runLine(run, at, this.#paint, isTerminal(this.#io.out))}\n`)
  }

  #decision(event: StreamDecision): void {
    if (event.name !== 'policy.decision' || !this.#matches(event)) return
    const line =
      this.#input.options.json === true ? writeJson(event) : decisionLine(event, this.#paint, isTerminal(this.#io.out))
    this.#io.out.write(`${line}\n`)
  }

  #matches({ project_id, session_id }: Pick<StreamRun, 'project_id' | 'session_id'>): boolean {
    const { project = project_id, session = session_id } = this.#input.options
    return project === project_id && session === session_id
  }

  /** Whether the run or its status is new. */
  #isNew({ trace_id, status }: StreamRun): boolean {
    if (this.#known.get(trace_id) === status) return false
    this.#known.set(trace_id, status)
    return true
  }
}

interface Page {
  readonly runs: readonly RunSummary[]
  readonly next_cursor: string | null
}

interface Bundle {
  readonly spans: readonly { readonly id: string; readonly events: readonly TraceEvent[] }[]
  readonly events: readonly TraceEvent[]
}

type Paint = (text: string, colour: Colour) => string

/** A run in the stream. */
interface StreamRun {
  readonly trace_id: string
  readonly project_id: string
  readonly session_id: string | null
  readonly origin: string
  readonly status: string
}

/** An event in the stream; small integers are numbers. */
interface StreamDecision {
  readonly name: string
  readonly time_ns: bigint | number
  readonly trace_id: string
  readonly project_id: string
  readonly session_id: string | null
  readonly attributes: Readonly<Record<string, unknown>>
}

/** A run on a line: time of day, id, status, origin, session; ids are shortened for people at a terminal. `at` is milliseconds since 1970. */
const runLine = (run: StreamRun, at: number, paint: Paint, isTerminal: boolean): string =>
  [
    timeOf(at),
    listedId(run.trace_id, isTerminal),
    painted(run.status.padEnd(11), run.status, paint),
    run.origin.padEnd(10),
    listedId(run.session_id ?? '', isTerminal),
  ]
    .join('  ')
    .trimEnd()

/** A decision on a line: time of day, run id, decision, reason, mode, session. */
const decisionLine = (decision: StreamDecision, paint: Paint, isTerminal: boolean): string => {
  const { attributes, session_id, time_ns, trace_id } = decision
  const decided = wordOf(attributes.decision)
  const cells = [
    timeOf(Number(BigInt(time_ns) / 1_000_000n)),
    listedId(trace_id, isTerminal),
    painted(decided.padEnd(11), decided, paint),
    wordOf(attributes.reason_code).padEnd(10),
    wordOf(attributes.mode),
    listedId(session_id ?? '', isTerminal),
  ]
  return cells
    .filter((cell) => cell !== '')
    .join('  ')
    .trimEnd()
}

const wordOf = (value: unknown): string => (typeof value === 'string' ? terminalLine(value) : '')

const painted = (text: string, word: string, paint: Paint): string => {
  const colour = colourOf(word)
  return colour === undefined ? text : paint(text, colour)
}

const timeOf = (at: number): string => {
  const date = new Date(at)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':')
}
