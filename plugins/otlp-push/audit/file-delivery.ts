import { type FileHandle, open, stat } from 'node:fs/promises'
import type { Gateway } from 'guard-gateway/core'
import { Delivery } from '../delivery.ts'
import type { ExportResult } from '../export-result.ts'
import type { RequestBody } from '../request-bodies.ts'

/** Only the user of the gateway reads what tools were called with what result. */
const MODE = 0o600
const NEWLINE = Buffer.from('\n')

/** Appends batches of whole lines to a file. It is opened anew where another one stands under its name. */
export class FileDelivery extends Delivery {
  readonly display: string
  #file: FileHandle | undefined
  /** The last write broke off within a line that could not be taken back. */
  #isTorn = false

  constructor(gateway: Gateway, file: string) {
    super(gateway, 'Audit records')
    this.display = file
  }

  protected async attempt({ bytes }: RequestBody): Promise<ExportResult> {
    try {
      const file = await this.#current()
      await this.#append(file, this.#isTorn ? Buffer.concat([NEWLINE, bytes]) : bytes)
      return { kind: 'accepted', rejected: 0 }
    } catch (error) {
      await this.#forget()
      return { kind: 'retryable', wait_ms: null, error: `The file cannot be written: ${reasonOf(error)}.` }
    }
  }

  protected close(): void {
    void this.#forget()
  }

  /** The open file, if it is still the one of this name: another program may have moved it away. */
  async #current(): Promise<FileHandle> {
    if (this.#file !== undefined && !(await isAt(this.#file, this.display))) await this.#forget()
    this.#file ??= await open(this.display, 'a', MODE)
    return this.#file
  }

  /** Writes all, or takes back what was written of it if nobody has written behind it. */
  async #append(file: FileHandle, bytes: Buffer): Promise<void> {
    const { size } = await file.stat()
    let written = 0
    try {
      while (written < bytes.length) written += (await file.write(bytes, written)).bytesWritten
      this.#isTorn = false
    } catch (error) {
      if (written > 0) this.#isTorn = !(await isTakenBack(file, size, written))
      throw error
    }
  }

  async #forget(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    await file?.close().catch(() => {})
  }
}

const isAt = async (file: FileHandle, path: string): Promise<boolean> => {
  const [own, there] = await Promise.all([file.stat(), stat(path).catch(() => undefined)])
  return there !== undefined && there.ino === own.ino && there.dev === own.dev
}

const isTakenBack = async (file: FileHandle, size: number, written: number): Promise<boolean> => {
  try {
    if ((await file.stat()).size !== size + written) return false
    await file.truncate(size)
    return true
  } catch {
    return false
  }
}

const words: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left on its disk',
  EDQUOT: 'the quota of its disk is used up',
  EFBIG: 'no file may be larger',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'its folder is not there',
  ENOTDIR: 'its folder is not there',
  EISDIR: 'it is a folder',
  EROFS: 'its disk is read-only',
}

const reasonOf = (error: unknown): string => {
  const { code = '', message } = error as NodeJS.ErrnoException
  return words[code] ?? (code === '' ? message : code)
}
