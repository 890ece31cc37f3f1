const HEAD_END = Buffer.from('\r\n\r\n')
const LF = 0x0a

/** The examined fields of a reply. */
export interface ParsedReply {
  readonly status: number
  /** Bytes of the body, without transfer coding. */
  readonly bytes: number
  /** Value of x-guard-decision. Empty if absent. */
  readonly decision: string
}

/** Parses the replies of one connection, one at a time. Throws on an invalid HTTP/1.1 reply. */
export class ReplyReader {
  #head: Buffer | undefined
  #status = 0
  #decision = ''
  #bytes = 0
  /** Remaining bytes of the body, or of the current chunk. */
  #left = 0
  #chunked = false
  /** Position in a chunked body: the size line, the data, or the empty line after the data. */
  #state: 'head' | 'size' | 'data' | 'end' | 'last' = 'head'
  #line = ''

  /** Returns the reply once it is complete. */
  push(chunk: Buffer): ParsedReply | undefined {
    let at = 0
    while (at < chunk.length) {
      at = this.#step(chunk, at)
      if (at === -1) return this.#finish()
    }
    return undefined
  }

  /** Returns the next offset, or -1 at the end of the reply. */
  #step(chunk: Buffer, at: number): number {
    if (this.#state === 'head') return this.#header(chunk, at)
    if (this.#state === 'data') return this.#data(chunk, at)
    const end = chunk.indexOf(LF, at)
    this.#line += chunk.toString('latin1', at, end === -1 ? chunk.length : end)
    if (end === -1) return chunk.length
    const line = this.#line.trim()
    this.#line = ''
    return this.#afterLine(line) ? end + 1 : -1
  }

  #afterLine(line: string): boolean {
    if (this.#state === 'last') return line !== ''
    if (this.#state === 'end') {
      this.#state = 'size'
      return true
    }
    this.#left = Number.parseInt(line, 16)
    if (Number.isNaN(this.#left)) throw new Error(`a chunk begins with "${line.slice(0, 40)}"`)
    this.#state = this.#left === 0 ? 'last' : 'data'
    return true
  }

  #data(chunk: Buffer, at: number): number {
    const taken = Math.min(this.#left, chunk.length - at)
    this.#left -= taken
    this.#bytes += taken
    if (this.#left > 0) return at + taken
    if (!this.#chunked) return -1
    this.#state = 'end'
    return at + taken
  }

  #header(chunk: Buffer, at: number): number {
    const before = this.#head?.length ?? 0
    const rest = chunk.subarray(at)
    const known = this.#head === undefined ? rest : Buffer.concat([this.#head, rest])
    const end = known.indexOf(HEAD_END)
    if (end === -1) {
      this.#head = known
      return chunk.length
    }
    this.#head = undefined
    this.#begin(known.toString('latin1', 0, end))
    return this.#state === 'data' && this.#left === 0 ? -1 : at + end + HEAD_END.length - before
  }

  #begin(head: string): void {
    this.#status = Number(head.slice(9, 12))
    this.#decision = /\r\nx-guard-decision: *(\w+)/i.exec(head)?.[1] ?? ''
    this.#bytes = 0
    this.#chunked = /\r\ntransfer-encoding: *chunked/i.test(head)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    if (!this.#chunked && length === undefined) throw new Error('a reply came without a length')
    this.#left = this.#chunked ? 0 : Number(length)
    this.#state = this.#chunked ? 'size' : 'data'
  }

  #finish(): ParsedReply {
    this.#state = 'head'
    return { status: this.#status, bytes: this.#bytes, decision: this.#decision }
  }
}
