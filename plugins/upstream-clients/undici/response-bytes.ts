import { HttpFault } from './errors.ts'

const { maxHeaderSize } = process.getBuiltinModule('node:http')
const STATUS_LINE = 'HTTP/1.1 1xx'
/** The place of the first digit of a status. */
const CLASS = STATUS_LINE.indexOf('1xx')
const ONE = 0x31

/**
 * The bytes of a response before undici parses them. It skips informational heads (RFC 9110, section 15.2), of which undici takes 100
 * for a fault, and bounds what is neither head nor body, as extensions of chunks, which undici does not.
 */
export class ResponseBytes {
  #awaitsFinal = false
  /** The part of an informational head that has arrived so far. */
  #held: Buffer | undefined
  #skipped = 0
  /** How much has come since the last piece of a body. */
  #framing = 0

  /** A request is sent. */
  begin(): void {
    this.#awaitsFinal = true
    this.#held = undefined
    this.#skipped = 0
    this.#framing = 0
  }

  /** A piece of the body has been parsed. */
  progressed(): void {
    this.#framing = 0
  }

  /** What of these bytes is for undici; null: nothing yet. Throws HttpFault for what has no end, and for a change of protocol. */
  push(bytes: Buffer): Buffer | null {
    if (this.#awaitsFinal) return this.#skip(bytes)
    if (this.#framing > maxHeaderSize) throw new HttpFault('HPE_HEADER_OVERFLOW')
    this.#framing += bytes.length
    return bytes
  }

  #skip(bytes: Buffer): Buffer | null {
    let rest = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes])
    this.#held = undefined
    while (mayBeInformational(rest)) {
      const end = rest.length < STATUS_LINE.length ? -1 : rest.indexOf('\r\n\r\n')
      if (this.#skipped + (end === -1 ? rest.length : end) > maxHeaderSize) throw new HttpFault('HPE_HEADER_OVERFLOW')
      if (end === -1) {
        this.#held = rest
        return null
      }
      this.#skipped += end + 4
      rest = rest.subarray(end + 4)
    }
    this.#awaitsFinal = false
    this.#framing = rest.length
    return rest
  }
}

/** Throws HttpFault for 101: no request asks for another protocol. */
const mayBeInformational = (bytes: Buffer): boolean => {
  if (bytes.length > CLASS && bytes[CLASS] !== ONE) return false
  const line = bytes.toString('latin1', 0, STATUS_LINE.length)
  if (line === 'HTTP/1.1 101') throw new HttpFault('HPE_INVALID_STATUS')
  return /^HTTP\/1\.[01] 1\d\d$/.test(line + STATUS_LINE.slice(line.length).replaceAll('x', '0'))
}
