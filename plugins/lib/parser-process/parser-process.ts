import { type ChildProcess, fork } from 'node:child_process'
import { dirname, extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What a module exports whose parser runs in the process. It sees copies of its texts, and should import little: the first text waits for it. */
export interface ParserModule<Text, Answer> {
  /** Loads what a text needs, before its time begins to count against the parser. */
  load?(text: Text): Promise<void>
  /** Without a break: a process that nobody is left to end interrupts it. */
  parse(text: Text): Answer
}

/** A text for a module, whose address is that of the file. */
export interface ParserRequest {
  readonly module: string
  readonly text: unknown
  readonly limit_ms: number
}

export type ParserReply =
  | { readonly answer: unknown; readonly resident_bytes: number; readonly failure?: never }
  | { readonly failure: unknown; readonly resident_bytes: number; readonly answer?: never }

/** Why a text was not parsed: no answer in time, the process ended, too many wait or for too long, or the process cannot be started. */
export type ParserFailure = 'timeout' | 'died' | 'overloaded' | 'unavailable'

/** A text was not parsed, and the fault is not told by its parser. */
export class ParserProcessError extends Error {
  override readonly name = 'ParserProcessError'
  readonly failure: ParserFailure

  constructor(failure: ParserFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.failure = failure
  }
}

/** Since this program started. */
export interface ParserCounts {
  readonly starts: number
  readonly deaths: number
  /** Texts that were refused, by kind and by why. */
  readonly refused: ReadonlyMap<string, Readonly<Record<ParserFailure, number>>>
}

export interface ParseOptions {
  /** What the text is, in counts. */
  readonly kind?: string
  readonly long?: boolean
  /** About its length; what waits is limited by it. */
  readonly chars?: number
  readonly limit_ms?: number
}

interface Job {
  readonly kind: string
  readonly chars: number
  readonly request: ParserRequest
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
  readonly timer: NodeJS.Timeout
}

/** Texts of one lane are parsed one after another. */
interface Lane {
  /** The first one is being parsed. */
  readonly jobs: Job[]
  child: ChildProcess | undefined
  idle: NodeJS.Timeout | undefined
}

export interface ParserLimits {
  /** Longest time from a text to its answer, those before it included: a busy machine is no fault of a text. Milliseconds. */
  readonly limit_ms: number
  /** A process for long texts ends after so long without one. Milliseconds. */
  readonly idle_ms: number
  /** Texts that wait in a lane; a further one is refused. */
  readonly max_waiting: number
  /** What the texts of a lane have together. */
  readonly max_waiting_chars: number
  /** A process that is resident with more is replaced after its answer. */
  readonly max_resident_bytes: number
  /** The heap of a process, MB. */
  readonly max_heap_mb: number
}

const LIMITS: ParserLimits = {
  limit_ms: 10_000,
  idle_ms: 30_000,
  max_waiting: 1_000,
  max_waiting_chars: 16 * 1024 * 1024,
  max_resident_bytes: 512 * 1024 * 1024,
  max_heap_mb: 256,
}

/** V8 versions that know these flags: those of Node 22 and 24. */
const ENGINES = /^1(?:2\.4|3\.6)\./
/**
 * A parser is one function of several 100 KB, and the optimizing compiler takes 500 MB to make it twice as fast. Its own memory is 256 MiB
 * at most.
 */
const WASM_FLAGS = ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering', '--wasm-max-mem-pages=4096']
/** What a program needs of the options of this one: which sources stand for public names. */
const CONDITIONS = /^(?:--conditions=|-C=?.)/

/**
 * Parses untrusted texts in a process of their own, so that no parser can take this program along: one that aborts, never ends or takes too
 * much memory ends with its process, its text is refused, and the next text gets another one. Short texts share one process, which is kept;
 * long ones another, so that nothing short waits for them. A process starts with its first text, keeps no program up and ends with it.
 */
export class ParserProcess {
  readonly #limits: ParserLimits
  readonly #lanes: Readonly<Record<'short' | 'long', Lane>> = {
    short: { jobs: [], child: undefined, idle: undefined },
    long: { jobs: [], child: undefined, idle: undefined },
  }
  #starts = 0
  #deaths = 0
  readonly #refused = new Map<string, Record<ParserFailure, number>>()
  #users = 0
  #isEnding = false

  constructor(limits: Partial<ParserLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits }
  }

  get counts(): ParserCounts {
    return { starts: this.#starts, deaths: this.#deaths, refused: this.#refused }
  }

  /** Ids of the processes that run. */
  get pids(): readonly number[] {
    return Object.values(this.#lanes).flatMap(({ child }) => child?.pid ?? [])
  }

  /** Counts a gateway that uses the processes until it calls the result. They end with the last one, after the texts that they have. */
  use(): () => void {
    this.#users++
    this.#isEnding = false
    let hasLeft = false
    return () => {
      if (hasLeft) return
      hasLeft = true
      this.#isEnding = --this.#users === 0
      for (const lane of Object.values(this.#lanes)) if (lane.jobs.length === 0) this.#next(lane)
    }
  }

  /** Parses a text by the module at this address. Rejects with ParserProcessError, or with what the parser throws. */
  parse<Text, Answer>(
    module: string,
    text: Text,
    { kind = 'other', long = false, chars = 0, limit_ms = this.#limits.limit_ms }: ParseOptions = {},
  ): Promise<Answer> {
    const lane = this.#lanes[long ? 'long' : 'short']
    if (!this.#hasRoom(lane, chars))
      return Promise.reject(this.#refusal(kind, 'overloaded', 'too many texts wait for their parser'))
    return new Promise<unknown>((resolve, reject) => {
      const timer = setTimeout(() => this.#timeOut(lane, job, limit_ms), limit_ms)
      const job: Job = { kind, chars, request: { module, text, limit_ms }, resolve, reject, timer }
      lane.jobs.push(job)
      if (lane.jobs.length === 1) this.#next(lane)
    }) as Promise<Answer>
  }

  /** One text has room however long it is. */
  #hasRoom({ jobs }: Lane, chars: number): boolean {
    const { max_waiting, max_waiting_chars } = this.#limits
    const waiting = jobs.reduce((sum, job) => sum + job.chars, 0)
    return jobs.length === 0 || (jobs.length <= max_waiting && waiting + chars <= max_waiting_chars)
  }

  #refusal(kind: string, failure: ParserFailure, message: string, cause?: unknown): ParserProcessError {
    const counts = this.#refused.get(kind) ?? { timeout: 0, died: 0, overloaded: 0, unavailable: 0 }
    counts[failure]++
    this.#refused.set(kind, counts)
    return new ParserProcessError(failure, message, { cause })
  }

  #next(lane: Lane): void {
    clearTimeout(lane.idle)
    const [job] = lane.jobs
    if (job === undefined) {
      lane.child?.channel?.unref()
      if (this.#isEnding) this.#end(lane)
      else if (lane === this.#lanes.long) lane.idle = setTimeout(() => this.#end(lane), this.#limits.idle_ms).unref()
      return
    }
    try {
      const child = lane.child ?? this.#started(lane)
      lane.child = child
      child.channel?.ref()
      child.send(job.request, (error) => {
        if (error !== null) child.kill('SIGKILL')
      })
    } catch (error) {
      this.#settle(lane, ({ kind, reject }) => reject(this.#refusal(kind, 'unavailable', cannotStart(error), error)))
    }
  }

  #started(lane: Lane): ChildProcess {
    // .ts from source, .js from a build
    const program = fileURLToPath(new URL(`./program${extname(import.meta.filename)}`, import.meta.url))
    const child = fork(program, [], {
      // the folder of this program may be gone, and nothing starts in such a one
      cwd: dirname(program),
      env: {},
      execArgv: [
        ...process.execArgv.filter((option) => CONDITIONS.test(option)),
        `--max-old-space-size=${this.#limits.max_heap_mb}`,
        ...(ENGINES.test(process.versions.v8) ? WASM_FLAGS : []),
      ],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    this.#starts++
    child.unref()
    child.on('message', (reply: ParserReply) => this.#answered(lane, child, reply))
    child.on('error', (error) => this.#ended(lane, child, 'unavailable', cannotStart(error)))
    child.on('exit', (code, signal) =>
      this.#ended(lane, child, 'died', `the process that reads it has ended (${signal ?? `code ${code}`})`),
    )
    return child
  }

  #answered(lane: Lane, child: ChildProcess, reply: ParserReply): void {
    if (lane.child !== child) return
    if (reply.resident_bytes > this.#limits.max_resident_bytes) this.#end(lane)
    this.#settle(lane, ({ resolve, reject }) =>
      reply.failure === undefined ? resolve(reply.answer) : reject(reply.failure),
    )
  }

  /** A process that ends by itself takes the text along that it was parsing. */
  #ended(lane: Lane, child: ChildProcess, failure: ParserFailure, message: string): void {
    if (lane.child !== child) return
    lane.child = undefined
    this.#deaths++
    this.#settle(lane, ({ kind, reject }) => reject(this.#refusal(kind, failure, message)))
  }

  /** Ends the first job, and begins the next. */
  #settle(lane: Lane, settle: (job: Job) => void): void {
    const job = lane.jobs.shift()
    if (job === undefined) return
    clearTimeout(job.timer)
    settle(job)
    this.#next(lane)
  }

  /** A parser that cannot be interrupted ends with its process. */
  #timeOut(lane: Lane, job: Job, limit_ms: number): void {
    const at = lane.jobs.indexOf(job)
    lane.jobs.splice(at, 1)
    if (at !== 0) {
      job.reject(this.#refusal(job.kind, 'overloaded', `it was not its turn within ${limit_ms / 1000} s`))
      return
    }
    job.reject(
      this.#refusal(job.kind, 'timeout', `the process that reads it did not answer within ${limit_ms / 1000} s`),
    )
    this.#deaths++
    this.#end(lane)
    this.#next(lane)
  }

  #end(lane: Lane): void {
    const { child } = lane
    lane.child = undefined
    child?.kill('SIGKILL')
  }
}

const cannotStart = (error: unknown): string =>
  `the process that reads it cannot be started: ${error instanceof Error ? error.message : String(error)}`

/** The one that this program shares, whatever gateways it runs. */
export const parserProcess = new ParserProcess()
