const HEAD_END = Buffer.from('\r\n\r\n')

/** Finds the end of each request on a connection without parsing its content. Bodies need a content-length. */
export class RequestReader {
  readonly #onRequest: () => void
  #head: Buffer | undefined
  #left = 0

  constructor(onRequest: () => void) {
    this.#onRequest = onRequest
  }

  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) at = this.#left > 0 ? this.#body(chunk, at) : this.#header(chunk, at)
  }

  #body(chunk: Buffer, at: number): number {
    const taken = Math.min(this.#left, chunk.length - at)
    this.#left -= taken
    if (this.#left === 0) this.#onRequest()
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
    const length = /\r\ncontent-length: *(\d+)/i.exec(known.toString('latin1', 0, end))?.[1]
    if (length === undefined) throw new Error('the provider of the bench reads requests with a content-length only')
    this.#left = Number(length)
    if (this.#left === 0) this.#onRequest()
    return at + end + HEAD_END.length - before
  }
}
