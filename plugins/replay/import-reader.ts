import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { type ExportFormat, GuardError, type ImportWarning } from 'guard-gateway/core'
import { type FoundRun, foundRuns, reads, readText, type Slice, slicesOf, textOf } from './import-file.ts'
import type { FromReader, ReadStart, ToReader } from './import-protocol.ts'

/** Files up to this size are read at once: starting a thread takes longer. */
const INLINE_BYTES = 262_144
/** Memory of a reading thread: what it needs empty, and what a byte of a file may become, in MiB. */
const BASE_MB = 128
const FILE_FACTOR = 24
const MIB = 1_048_576

/** A file that was read and is to be taken in. */
export interface ImportFile {
  readonly warnings: readonly ImportWarning[]
  readonly runs: readonly FoundRun[]
  /** All records, run by run; to be read once. */
  slices(): AsyncIterable<Slice>
  /** Lets go of what reads it. */
  close(): Promise<void>
}

/**
 * Reads an import file, a large one in a thread of its own, whose bytes go over to it. Formats that name no module are asked
 * last, on this thread. Throws INVALID_IMPORT, BODY_TOO_LARGE, what the file's format finds wrong, and the signal's reason.
 */
export const openImport = async (
  formats: Iterable<ExportFormat>,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<ImportFile> => {
  const readers = [...formats].filter(reads)
  const known = readers.map(({ id }) => id)
  const file = await (bytes.length <= INLINE_BYTES ? readHere(bytes, readers) : readLarge(bytes, readers, signal))
  if (file !== undefined) return file
  throw new GuardError('INVALID_IMPORT', `The file is of no known format; there is ${known.join(', ')}.`, {
    known,
    line: 1,
  })
}

const readHere = (bytes: Buffer, readers: readonly ExportFormat[]): ImportFile | undefined => {
  const imported = readText(textOf(bytes), readers)
  return (
    imported && {
      warnings: imported.warnings,
      runs: foundRuns(imported),
      async *slices() {
        yield* slicesOf(imported)
      },
      close: async () => {},
    }
  )
}

const readLarge = async (
  bytes: Buffer,
  readers: readonly ExportFormat[],
  signal: AbortSignal,
): Promise<ImportFile | undefined> => {
  const formats = readers.flatMap(({ id, module }) => (module === undefined ? [] : [{ id, module }]))
  const local = readers.filter(({ module }) => module === undefined)
  if (local.length === 0) return readBeside(formats, givenAway(bytes), signal)
  return (await readBeside(formats, new Uint8Array(bytes).buffer, signal)) ?? readHere(bytes, local)
}

/** The memory of a buffer that nobody looks at any more; a copy where it holds other things besides. */
const givenAway = (bytes: Buffer): ArrayBuffer =>
  bytes.buffer instanceof ArrayBuffer && bytes.buffer.byteLength === bytes.length
    ? bytes.buffer
    : new Uint8Array(bytes).buffer

/** Undefined: none of the formats knows the file. */
const readBeside = async (
  formats: ReadStart['formats'],
  bytes: ArrayBuffer,
  signal: AbortSignal,
): Promise<ImportFile | undefined> => {
  const thread = new ReadingThread(formats, bytes, signal)
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

/** A thread that reads one file; it answers one question at a time. */
class ReadingThread {
  readonly #worker: Worker
  readonly #signal: AbortSignal
  #answer: { readonly resolve: (answer: FromReader) => void; readonly reject: (error: unknown) => void } | undefined
  #answered: FromReader | undefined
  #failed: unknown

  constructor(formats: ReadStart['formats'], bytes: ArrayBuffer, signal: AbortSignal) {
    const size_mb = Math.ceil(bytes.byteLength / MIB)
    // .ts from source, .js from a build
    this.#worker = new Worker(new URL(`./import-worker${extname(import.meta.filename)}`, import.meta.url), {
      workerData: { bytes, formats } satisfies ReadStart,
      transferList: [bytes],
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

  /** The next answer: the first without a question. */
  ask(question?: ToReader): Promise<FromReader> {
    if (question !== undefined) this.#worker.postMessage(question)
    return new Promise((resolve, reject) => {
      this.#answer = { resolve, reject }
      this.#settle()
    })
  }

  async *slices(): AsyncGenerator<Slice> {
    for (;;) {
      const answer = await this.ask('next')
      if (answer.kind !== 'slice') return
      yield answer.slice
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
