import { getCompileCacheDir } from 'node:module'
import { dirname, extname } from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { OpenOptions } from './protocol.ts'

/** A worker thread that opens one file after another. */
export interface Thread {
  readonly worker: Worker
  open(options: OpenOptions): void
  /** Ends the thread. It must have no file open. */
  end(): void
}

/** A thread that has no file open. */
let idle: Thread | undefined

/** Starts the thread of the next file now, so that it loads its code while the configuration is read. The idle thread keeps no process alive. */
export const prestartThread = (): void => {
  if (idle !== undefined) return
  idle = startThread()
  idle.worker.unref()
}

/** A thread that opens a file: the idle one, or a new one. */
export const acquireThread = (options: OpenOptions): Thread => {
  const thread = idle !== undefined && !hasEnded(idle) ? idle : startThread()
  idle = undefined
  thread.worker.ref()
  thread.open(options)
  return thread
}

/** Takes a thread back that has closed its file. It stays idle for the next file, or ends if another thread is idle already. */
export const releaseThread = (thread: Thread): void => {
  if (idle !== undefined && !hasEnded(idle)) {
    thread.end()
    return
  }
  idle = thread
  thread.worker.unref()
}

const hasEnded = ({ worker }: Thread): boolean => worker.threadId === -1

const startThread = (): Thread => {
  const { port1: port, port2: remotePort } = new MessageChannel()
  // .ts in the sources, .js in a build
  const worker = new Worker(new URL(`./worker/worker${extname(import.meta.filename)}`, import.meta.url), {
    workerData: remotePort,
    transferList: [remotePort],
    name: 'guard-sqlite',
    // received messages become garbage at once: a small young generation fits the processor's cache, a large one only takes memory
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
    env: { ...process.env, ...compileCache() },
  })
  // the supervisor also listens; without any listener the process would crash
  worker.on('error', () => {})
  return { worker, open: (options) => port.postMessage(options), end: () => port.close() }
}

/** A thread uses the compile cache of the process only if its environment names the folder. */
const compileCache = (): NodeJS.ProcessEnv => {
  const folder = getCompileCacheDir()
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}
