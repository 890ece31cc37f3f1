import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

/** What a module that works in a thread of its own exports. It sees copies of its tasks, and should import little: the first task waits for it. */
export interface OffThreadModule<Task, Answer> {
  work(task: Task): Answer | Promise<Answer>
}

export type OffThreadReply =
  | { readonly answer: unknown; readonly failure?: never }
  | { readonly failure: unknown; readonly answer?: never }

/** A task has not been done in its time. */
export class OffThreadTimeout extends Error {
  override readonly name = 'TooLate'
}

interface Job<Task, Answer> {
  readonly task: Task
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
  readonly late: NodeJS.Timeout
}

/** Longest time from a task to its answer, those before it included: a busy machine is no fault of a task. */
const LIMIT_MS = 10_000
/** A thread without work is kept as long for the next task. */
const IDLE_MS = 30_000

/**
 * Runs the tasks of one module in a worker thread, one after another, so that long ones do not block the event loop.
 * The thread starts with the first task and keeps no process up. `module` is its address.
 */
export class OffThread<Task, Answer> {
  readonly #module: string
  readonly #limit_ms: number
  readonly #idle_ms: number
  /** The first one is being worked on. */
  readonly #jobs: Job<Task, Answer>[] = []
  #thread: Worker | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(module: string, { limit_ms = LIMIT_MS, idle_ms = IDLE_MS } = {}) {
    this.#module = module
    this.#limit_ms = limit_ms
    this.#idle_ms = idle_ms
  }

  /** A thread runs. */
  get isUp(): boolean {
    return this.#thread !== undefined
  }

  /** Rejects with TooLate, or with what the work throws. */
  run(task: Task): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => this.#tooLate(job), this.#limit_ms)
      const job: Job<Task, Answer> = { task, resolve, reject, late }
      this.#jobs.push(job)
      if (this.#jobs.length === 1) this.#next()
    })
  }

  #next(): void {
    clearTimeout(this.#idle)
    const [job] = this.#jobs
    if (job === undefined) {
      this.#thread?.unref()
      this.#idle = setTimeout(() => this.#end(), this.#idle_ms).unref()
      return
    }
    this.#thread ??= this.#started()
    this.#thread.ref()
    this.#thread.postMessage(job.task)
  }

  #started(): Worker {
    // .ts from source, .js from a build
    const url = new URL(`./worker${extname(import.meta.filename)}`, import.meta.url)
    const thread = new Worker(url, { workerData: this.#module, name: 'guard-off-thread' })
    thread.on('message', ({ answer, failure }: OffThreadReply) =>
      this.#settle(thread, ({ resolve, reject }) =>
        failure === undefined ? resolve(answer as Answer) : reject(failure),
      ),
    )
    const ended = (error: unknown): void => {
      if (this.#thread !== thread) return
      this.#thread = undefined
      this.#settle(undefined, ({ reject }) => reject(error))
    }
    thread.on('error', ended)
    thread.on('exit', (code) => ended(new Error(`The thread ended with ${code}.`)))
    return thread
  }

  /** Ends the first job, if it is still that of the thread. */
  #settle(thread: Worker | undefined, settle: (job: Job<Task, Answer>) => void): void {
    if (this.#thread !== thread) return
    const job = this.#jobs.shift()
    if (job === undefined) return
    clearTimeout(job.late)
    settle(job)
    this.#next()
  }

  /** What cannot be interrupted ends with its thread. */
  #tooLate(job: Job<Task, Answer>): void {
    const at = this.#jobs.indexOf(job)
    this.#jobs.splice(at, 1)
    job.reject(new OffThreadTimeout(`No answer within ${this.#limit_ms / 1000} s.`))
    if (at !== 0) return
    this.#end()
    this.#next()
  }

  #end(): void {
    const thread = this.#thread
    this.#thread = undefined
    void thread?.terminate()
  }
}
