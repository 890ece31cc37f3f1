import { getCompileCacheDir } from 'node:module'
import { dirname, extname } from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { Start } from './protocol.ts'

/** A thread for one file after another. */
export interface Thread {
  readonly worker: Worker
  keep(start: Start): void
  /** It ends, when it keeps no file. */
  end(): void
}

/** Keeps no file yet, or none any more. */
let idle: Thread | undefined

/** Starts the thread of the next file now, so that it loads its code while the configuration is read; it keeps no process alive. */
export const startAhead = (): void => {
  if (idle !== undefined) return
  idle = begin()
  idle.worker.unref()
}

/** The thread that keeps a file. */
export const threadFor = (start: Start): Thread => {
  const thread = idle !== undefined && !hasEnded(idle) ? idle : begin()
  idle = undefined
  thread.worker.ref()
  thread.keep(start)
  return thread
}

/** Takes a thread back that keeps no file any more. It waits for the next one, unless another does, and keeps no process alive. */
export const giveBack = (thread: Thread): void => {
  if (idle !== undefined && !hasEnded(idle)) {
    thread.end()
    return
  }
  idle = thread
  thread.worker.unref()
}

const hasEnded = ({ worker }: Thread): boolean => worker.threadId === -1

const begin = (): Thread => {
  const { port1: near, port2: far } = new MessageChannel()
  // .ts from source, .js from a build
  const worker = new Worker(new URL(`./worker/worker${extname(import.meta.filename)}`, import.meta.url), {
    workerData: far,
    transferList: [far],
    name: 'guard-sqlite',
    // what it is sent is garbage at once: little room for that stays in the processor's cache, much only adds to memory
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
    env: { ...process.env, ...compiled() },
  })
  // whoever waits for the thread listens too
  worker.on('error', () => {})
  return { worker, keep: (start) => near.postMessage(start), end: () => near.close() }
}

/** What this process keeps compiled a thread uses only if its environment says so. */
const compiled = (): NodeJS.ProcessEnv => {
  const folder = getCompileCacheDir()
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}
