import { free } from './detach-buffer.ts'

/** Who still needs a body. */
interface Need {
  /** Its call is not settled yet. */
  isOpen: boolean
  /** Attempts that may still read it. */
  sendings: number
  wasSent: boolean
}

/**
 * Request bodies whose memory belongs to whoever read them: it is freed once the call is settled and every attempt to send it is over.
 * Of a body that nobody said to have sent, nobody knows who reads it; garbage collection frees that, and whatever is not owned.
 */
export class OwnedBodies {
  readonly #needs = new WeakMap<Buffer, Need>()

  /** Nobody else has this memory. */
  own(body: Buffer): void {
    this.#needs.set(body, { isOpen: true, sendings: 0, wasSent: false })
  }

  /** An attempt to send it begins. */
  sending(body: Buffer): void {
    const need = this.#needs.get(body)
    if (need === undefined) return
    need.sendings++
    need.wasSent = true
  }

  /** One that has begun reads it no more. */
  sent(body: Buffer): void {
    const need = this.#needs.get(body)
    if (need === undefined) return
    need.sendings--
    this.#freeUnneeded(body, need)
  }

  /** Nobody but attempts to send it reads it any more. */
  settled(body: Buffer): void {
    const need = this.#needs.get(body)
    if (need === undefined) return
    need.isOpen = false
    this.#freeUnneeded(body, need)
  }

  #freeUnneeded(body: Buffer, { isOpen, sendings, wasSent }: Need): void {
    if (isOpen || sendings > 0 || !wasSent) return
    this.#needs.delete(body)
    free(body)
  }
}
