/** The readers that a buffer still has. */
interface BufferUse {
  /** The call of the body is not settled yet. */
  isOpen: boolean
  /** The number of upstream attempts that may still read it. */
  sendings: number
  wasSent: boolean
}

/**
 * The ownership of the buffers of request bodies. The memory of an owned body is freed when its call is settled and all attempts to
 * send it have ended. A body that was never sent may have other readers, so garbage collection frees it, like all that is not owned.
 */
export class BufferOwnership {
  readonly #uses = new WeakMap<Buffer, BufferUse>()

  /** Takes the ownership of a body. Its memory must have no other user. */
  own(body: Buffer): void {
    this.#uses.set(body, { isOpen: true, sendings: 0, wasSent: false })
  }

  /** An attempt to send the body starts. */
  sendStarted(body: Buffer): void {
    const use = this.#uses.get(body)
    if (use === undefined) return
    use.sendings++
    use.wasSent = true
  }

  /** An attempt to send the body no longer reads it. */
  sendEnded(body: Buffer): void {
    const use = this.#uses.get(body)
    if (use === undefined) return
    use.sendings--
    this.#freeUnused(body, use)
  }

  /** The call is settled: only attempts to send the body may still read it. */
  settled(body: Buffer): void {
    const use = this.#uses.get(body)
    if (use === undefined) return
    use.isOpen = false
    this.#freeUnused(body, use)
  }

  #freeUnused(body: Buffer, { isOpen, sendings, wasSent }: BufferUse): void {
    if (isOpen || sendings > 0 || !wasSent) return
    this.#uses.delete(body)
    detachBuffer(body)
  }
}

/**
 * Frees the memory of a buffer at once by detaching it, if it is the only view of that memory. The buffer must not be read or written
 * afterwards. Garbage collection frees memory outside of the heap late, and walks the whole heap for it.
 */
export const detachBuffer = ({ buffer, length }: Buffer): void => {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0)
}
