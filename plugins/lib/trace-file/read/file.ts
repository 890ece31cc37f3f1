import { isUtf8 } from 'node:buffer'
import { GuardError } from 'guard-gateway/core'
import type { ImportSource } from '#lib/export-format'
import { JsonMarks, mark } from '#lib/json'
import { traceFileErrors } from '../error-codes.ts'

/** A file of which `chunks` gives the bytes. */
export class ImportFile implements ImportSource {
  readonly #chunks: () => Iterable<Uint8Array>
  #members: ReadonlySet<string> | undefined

  /** `chunks` starts over with each call, and gives no chunk twice. */
  constructor(chunks: () => Iterable<Uint8Array>) {
    this.#chunks = chunks
  }

  /** The bytes, without the byte order mark that some editors put first. */
  *chunks(): Generator<Uint8Array> {
    let first = true
    for (const chunk of this.#chunks()) {
      const marked = first && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf
      first = false
      yield marked ? chunk.subarray(3) : chunk
    }
  }

  /** Names of the members of the JSON object that the file starts with, as far as they can be read; none if it starts otherwise. */
  get members(): ReadonlySet<string> {
    this.#members ??= membersOf(this.chunks())
    return this.#members
  }

  /** All of it. Throws INVALID_IMPORT for bytes that are no text. */
  text(): string {
    return textOf([...this.chunks()])
  }
}

/** A file whose content is at hand. */
export const importFile = (content: string | Uint8Array): ImportFile => {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  return new ImportFile(() => [bytes])
}

/** The text that bytes of a file are. Throws INVALID_IMPORT. */
export const textOf = (parts: readonly Uint8Array[]): string => {
  const [only] = parts
  const bytes = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)
  if (!isUtf8(bytes)) throw new GuardError(traceFileErrors.INVALID_IMPORT, 'The file is not UTF-8 text.', { line: 1 })
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
}

const BLANK = 32

/** Collects the names at the first level of one object, and sees where it ends. */
class Members {
  readonly names = new Set<string>()
  #depth = 0
  #isName = false
  /** Bytes of the name in hand that came in earlier chunks; undefined outside of one. */
  #name: Uint8Array[] | undefined
  #from = 0
  ended = false

  take(chunk: Uint8Array, marks: JsonMarks): void {
    this.#from = 0
    marks.feed(chunk)
    for (let byte = marks.next(); byte !== 0 && !this.ended; byte = marks.next()) this.#mark(chunk, byte, marks.at)
    this.#name?.push(chunk.subarray(this.#from))
  }

  #mark(chunk: Uint8Array, byte: number, at: number): void {
    if (byte === mark.string) this.#begin(at)
    else if (byte === mark.stringEnd) this.#end(chunk, at)
    else if (byte === mark.object || byte === mark.array) {
      if (this.#depth === 0 && byte === mark.array) this.ended = true
      this.#depth++
      this.#isName = this.#depth === 1
    } else if (byte === mark.comma) this.#isName = this.#depth === 1
    else if (byte === mark.objectEnd || byte === mark.arrayEnd) {
      this.#depth--
      this.#isName = false
      this.ended ||= this.#depth === 0
    }
  }

  #begin(at: number): void {
    if (this.#depth === 0) this.ended = true
    if (!this.#isName) return
    this.#isName = false
    this.#name = []
    this.#from = at
  }

  #end(chunk: Uint8Array, at: number): void {
    if (this.#name === undefined) return
    const quoted = Buffer.concat([...this.#name, chunk.subarray(this.#from, at + 1)]).toString()
    this.#name = undefined
    try {
      this.names.add(String(JSON.parse(quoted)))
    } catch {
      // a damaged name names nothing
    }
  }
}

const membersOf = (chunks: Iterable<Uint8Array>): ReadonlySet<string> => {
  const marks = new JsonMarks()
  const members = new Members()
  let begun = false
  for (const chunk of chunks) {
    const first: number | undefined = begun ? undefined : chunk.find((byte) => byte > BLANK)
    if (first !== undefined && first !== mark.object) break
    begun ||= first !== undefined
    members.take(chunk, marks)
    if (members.ended) break
  }
  return members.names
}
