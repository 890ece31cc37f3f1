const MAX_HEAD = 65_536
const STATUS = /^HTTP\/1\.[01] ([1-9]\d{2})(?: [^\r\n]*)?\r?$/

/** What a proxy said to CONNECT. */
export interface ConnectReply {
  readonly status: number
  /** The bytes after its head, which belong to the tunnel. */
  readonly rest: Buffer
}

/** Reads the head of an answer to CONNECT, in whatever pieces it comes; informational heads before it are passed over. */
export class ConnectReplyReader {
  #bytes = Buffer.alloc(0)

  /** Gives the reply when its head is there. Throws Error for what is no HTTP. */
  push(bytes: Buffer): ConnectReply | undefined {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    for (let end = headEnd(this.#bytes); end !== -1; end = headEnd(this.#bytes)) {
      const [line = ''] = this.#bytes.toString('latin1', 0, end).split('\n', 1)
      const status = Number(STATUS.exec(line)?.[1] ?? 0)
      if (status === 0) throw new Error('answered CONNECT with something else than HTTP/1')
      const rest = this.#bytes.subarray(end)
      // a switch to another protocol is no answer to CONNECT, and ends it
      if (status >= 200 || status === 101) return { status, rest }
      this.#bytes = rest
    }
    if (this.#bytes.length > MAX_HEAD) throw new Error(`answered CONNECT with more than ${MAX_HEAD} bytes of headers`)
    if (!couldBeHttp(this.#bytes)) throw new Error('answered CONNECT with something else than HTTP/1')
    return undefined
  }
}

/** Where the body would start; -1 while the head is incomplete. A lone line feed ends a line, too. */
const headEnd = (bytes: Buffer): number => {
  const strict = bytes.indexOf('\r\n\r\n')
  const loose = bytes.indexOf('\n\n')
  if (strict === -1) return loose === -1 ? -1 : loose + 2
  return loose === -1 || strict < loose ? strict + 4 : loose + 2
}

const couldBeHttp = (bytes: Buffer): boolean => {
  const start = bytes.toString('latin1', 0, 7)
  return 'HTTP/1.'.startsWith(start) || start.startsWith('HTTP/1.')
}
