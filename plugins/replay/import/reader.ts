import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { GuardError } from 'guard-gateway/core'
import type { ImportedRecord, ImportedRun, ImportWarning } from '#lib/export-format'
import { type FileReader, readFile, reads, slicesOf, unknownFile } from './file.ts'
import { type FromReader, importContext, type ReadStart, type ToReader } from './protocol.ts'
import type { Spooled } from './spool.ts'

/** Memory limits of a reader thread in MiB: its base, and the factor per byte of a file, mainly for ids. */
const BASE_MB = 128
const FILE_FACTOR = 8
const MIB = 1_048_576

/** A file whose outline was read. */
export interface OpenImport {
  /** Id of the format that read it. */
  readonly format: string
  readonly warnings: readonly ImportWarning[]
  readonly runs: readonly ImportedRun[]
  /** All records in slices, once; returns the digest of each run. */
  slices(): AsyncGenerator<readonly ImportedRecord[], readonly string[]>
  /** Stops the reader. */
  close(): Promise<void>
}

/**
 * Reads the outline of an import file, for a large file in a separate thread. Formats without a module come last, on this
 * thread. Throws INVALID_IMPORT, BODY_TOO_LARGE, errors of the format, and the signal's reason.
 */
export const openImport = async (
  formats: Iterable<FileReader>,
  spooled: Spooled,
  argument_key: string,
  signal: AbortSignal,
): Promise<OpenImport> => {
  const readers = [...formats].filter(reads)
  const { content } = spooled
  const file = await (typeof content === 'number'
    ? readLarge(spooled, content, readers, argument_key, signal)
    : readHere(spooled, readers, argument_key))
  if (file !== undefined) return file
  throw unknownFile(readers)
}

const readHere = ({ file }: Spooled, readers: readonly FileReader[], argument_key: string): OpenImport | undefined => {
  const reading = readFile(file, readers, importContext(argument_key))
  return (
    reading && {
      format: reading.format,
      warnings: reading.warnings,
      runs: reading.runs,
      async *slices() {
        return yield* slicesOf(reading)
      },
      close: async () => {},
    }
  )
}

const readLarge = async (
  spooled: Spooled,
  descriptor: number,
  readers: readonly FileReader[],
  argument_key: string,
  signal: AbortSignal,
): Promise<OpenImport | undefined> => {
  const formats = readers.flatMap(({ id, module }) => (module === undefined ? [] : [{ id, module }]))
  const local = readers.filter(({ module }) => module === undefined)
  const found = await readInThread({ descriptor, formats, argument_key }, spooled.size, signal)
  return found ?? readHere(spooled, local, argument_key)
}

/** Undefined: no format accepts the file. */
const readInThread = async (start: ReadStart, size: number, signal: AbortSignal): Promise<OpenImport | undefined> => {
  const thread = new ReadingThread(start, size, signal)
  try {
    const first = await thread.ask()
    if (first.kind === 'found') return { ...first, slices: () => thread.slices(), close: () => thread.close() }
    await thread.close()
    if (first.kind === 'refused') throw new GuardError(first.code, first.message, first.place)
    return undefined
  } catch (error) {
    await thread.close()
    throw error
  }
}

/** A thread that reads one file; it handles one request at a time. */
class ReadingThread {
  readonly #worker: Worker
  readonly #signal: AbortSignal
  #answer: { readonly resolve: (answer: FromReader) => void; readonly reject: (error: unknown) => void } | undefined
  #answered: FromReader | undefined
  #failed: unknown

  constructor(start: ReadStart, size: number, signal: AbortSignal) {
    const size_mb = Math.ceil(size / MIB)
    // .ts from source, .js from a build
    this.#worker = new Worker(new URL(`./worker${extname(import.meta.filename)}`, import.meta.url), {
      workerData: start,
      name: 'guard-import',
      resourceLimits: { maxOldGenerationSizeMb: BASE_MB + FILE_FACTOR * size_mb },
    })
    this.#worker.on('message', (message: FromReader) => {
      this.#answered = message
      this.#settle()
    })
    this.#worker.on('error', (error: NodeJS.ErrnoException) => this.#fail(failureOf(error)))
    this.#worker.on('exit', () => this.#fail(new Error('The thread that read the file has ended.')))
    this.#signal = signal
    signal.addEventListener('abort', this.#abort, { once: true })
    if (signal.aborted) this.#abort()
  }

  /** Next message; the first comes without a request. */
  ask(question?: ToReader): Promise<FromReader> {
    if (question !== undefined) this.#worker.postMessage(question)
    return new Promise((resolve, reject) => {
      this.#answer = { resolve, reject }
      this.#settle()
    })
  }

  async *slices(): AsyncGenerator<readonly ImportedRecord[], readonly string[]> {
    let next = this.ask('next')
    for (;;) {
      const answer = await next
      if (answer.kind === 'end') return answer.digests
      if (answer.kind !== 'slice') throw new TypeError(`The thread answered "${answer.kind}".`)
      // prefetch while these are stored
      next = this.ask('next')
      next.catch(() => {})
      yield answer.records
    }
  }

  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#abort)
    await this.#worker.terminate()
  }

  readonly #abort = (): void => {
    this.#fail(this.#signal.reason)
    void this.#worker.terminate()
  }

  #fail(error: unknown): void {
    this.#failed ??= error
    this.#settle()
  }

  #settle(): void {
    const waiting = this.#answer
    if (waiting === undefined) return
    if (this.#answered === undefined && this.#failed === undefined) return
    this.#answer = undefined
    const answered = this.#answered
    this.#answered = undefined
    if (answered === undefined) waiting.reject(this.#failed)
    else waiting.resolve(answered)
  }
}

const failureOf = (error: NodeJS.ErrnoException): unknown =>
  error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new GuardError(
        'BODY_TOO_LARGE',
        'Reading the file takes more memory than an import may have. Split it by runs.',
        {
          cause: error,
        },
      )
    : error
