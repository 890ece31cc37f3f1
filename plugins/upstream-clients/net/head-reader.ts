import { HttpParseError } from './errors.ts'
import { parseHead, type ResponseHead } from './response-head.ts'

const { maxHeaderSize } = process.getBuiltinModule('node:http')
const END = Buffer.from('\r\n\r\n')
const NOTHING = Buffer.alloc(0)
const VERSION_PREFIX = 'HTTP/1.'
/** Heads of status 1xx before the final one. */
const MAX_INFORMATIONAL = 256

/** Gathers the head of a response from chunks of any size, and skips informational ones. */
export class HeadReader {
  /** The part of a head that has arrived so far. */
  #partial: Buffer | undefined
  #informational = 0
  /** The bytes after the final head. */
  rest: Buffer = NOTHING

  /** The final head, or undefined while it is incomplete. Throws HttpParseError. */
  push(chunk: Buffer): ResponseHead | undefined {
    const bytes = this.#partial === undefined ? chunk : Buffer.concat([this.#partial, chunk])
    let from = this.#partial === undefined ? 0 : Math.max(0, this.#partial.length - END.length + 1)
    let start = 0
    for (let end = bytes.indexOf(END, from); end !== -1; end = bytes.indexOf(END, from)) {
      const head = this.#head(bytes.toString('latin1', start, end + 2))
      start = end + END.length
      from = start
      if (head === undefined) continue
      this.rest = bytes.subarray(start)
      return head
    }
    this.#partial = start === bytes.length ? undefined : bytes.subarray(start)
    if (this.#partial !== undefined) checkPartialHead(this.#partial, Math.max(0, from - start))
    return undefined
  }

  #head(text: string): ResponseHead | undefined {
    if (text.length > maxHeaderSize) throw overflow()
    const head = parseHead(text)
    const { status } = head
    if (status >= 200) return head
    if (status < 100 || status === 101) throw new HttpParseError('HPE_INVALID_STATUS', 'a status that answers nothing')
    if (head.isChunked || (head.length ?? 0) > 0)
      throw new HttpParseError('HPE_UNEXPECTED_CONTENT_LENGTH', 'an informational answer with a body')
    this.#informational++
    if (this.#informational > MAX_INFORMATIONAL) throw overflow()
    return undefined
  }
}

const overflow = (): HttpParseError => new HttpParseError('HPE_HEADER_OVERFLOW', 'a head without end')

/** Refuses bytes that cannot become a head, so that no request waits for the rest. Bytes before `from` are checked already. */
const checkPartialHead = (partial: Buffer, from: number): void => {
  if (partial.length > maxHeaderSize) throw overflow()
  const text = partial.toString('latin1', 0, VERSION_PREFIX.length)
  if (!VERSION_PREFIX.startsWith(text))
    throw new HttpParseError('HPE_INVALID_CONSTANT', 'a first line that is no status line')
  if (/[^\r]\n|\r[^\n]/.test(partial.toString('latin1', Math.max(0, from - 1))))
    throw new HttpParseError('HPE_CR_EXPECTED', 'a line that does not end in CRLF')
}
