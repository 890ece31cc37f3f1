import { type Client, headerOf } from 'guard-gateway/core'

/** A client that stays to the end, reads every byte at once and collects the response. */
export class CollectingClient implements Client {
  readonly gone = false
  readonly interrupted = false
  status = 0
  /** The reply broke off. */
  broken = false
  readonly #chunks: Uint8Array[] = []
  #headers: readonly string[] = []

  head(status: number, headers: readonly string[]): void {
    this.status = status
    this.#headers = headers
  }

  write(chunk: Uint8Array): boolean {
    this.#chunks.push(chunk)
    return true
  }

  end(last?: Uint8Array): void {
    if (last !== undefined) this.#chunks.push(last)
  }

  cut(): void {
    this.broken = true
  }

  /** Never needed: `write` always has room. */
  onDrain(): void {}

  /** Never needed: this client does not leave. */
  onGone(): void {}

  /** The value of a header of the reply; null if it has none of this name. */
  header(name: string): string | null {
    return headerOf(this.#headers, name) ?? null
  }

  get body(): string {
    return Buffer.concat(this.#chunks).toString()
  }
}
