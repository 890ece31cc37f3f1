import { HttpFault } from './fault.ts'
import { parseHead, type ResponseHead } from './response-head.ts'

const { maxHeaderSize } = process.getBuiltinModule('node:http')
const END = Buffer.from('\r\n\r\n')
const NOTHING = Buffer.alloc(0)
const BEGINNING = 'HTTP/1.'
/** Heads that only say that the answer is on its way. */
const MAX_INFORMATIONAL = 256

/** Gathers the head of an answer from pieces of any size, and passes over informational ones. */
export class HeadReader {
  /** A head that has not come whole. */
  #begun: Buffer | undefined
  #informational = 0
  /** What came behind the head, once it is there. */
  rest: Buffer = NOTHING

  /** The final head, or undefined if it is not there yet. Throws HttpFault. */
  push(chunk: Buffer): ResponseHead | undefined {
    const bytes = this.#begun === undefined ? chunk : Buffer.concat([this.#begun, chunk])
    let from = this.#begun === undefined ? 0 : Math.max(0, this.#begun.length - END.length + 1)
    let start = 0
    for (let end = bytes.indexOf(END, from); end !== -1; end = bytes.indexOf(END, from)) {
      const head = this.#head(bytes.toString('latin1', start, end + 2))
      start = end + END.length
      from = start
      if (head === undefined) continue
      this.rest = bytes.subarray(start)
      return head
    }
    this.#begun = start === bytes.length ? undefined : bytes.subarray(start)
    if (this.#begun !== undefined) checkBeginning(this.#begun, Math.max(0, from - start))
    return undefined
  }

  #head(text: string): ResponseHead | undefined {
    if (text.length > maxHeaderSize) throw overflow()
    const head = parseHead(text)
    const { status } = head
    if (status >= 200) return head
    if (status < 100 || status === 101) throw new HttpFault('HPE_INVALID_STATUS', 'a status that answers nothing')
    if (head.isChunked || (head.length ?? 0) > 0)
      throw new HttpFault('HPE_UNEXPECTED_CONTENT_LENGTH', 'an informational answer with a body')
    this.#informational++
    if (this.#informational > MAX_INFORMATIONAL) throw overflow()
    return undefined
  }
}

const overflow = (): HttpFault => new HttpFault('HPE_HEADER_OVERFLOW', 'a head without end')

/** Refuses a head that cannot become one, so that nobody waits for the rest of it. `from`: what was not looked at before. */
const checkBeginning = (begun: Buffer, from: number): void => {
  if (begun.length > maxHeaderSize) throw overflow()
  const text = begun.toString('latin1', 0, BEGINNING.length)
  if (!BEGINNING.startsWith(text)) throw new HttpFault('HPE_INVALID_CONSTANT', 'a first line that is no status line')
  if (/[^\r]\n|\r[^\n]/.test(begun.toString('latin1', Math.max(0, from - 1))))
    throw new HttpFault('HPE_CR_EXPECTED', 'a line that does not end in CRLF')
}
