import { STAMP, stamp } from '../kit/template.ts'
import type { Shape } from './shapes.ts'

/** The parts of one request: head, conversation and the end of the body. */
export type Outgoing = readonly [head: string, body: Buffer, tail: Buffer]

/** Produces the requests of one connection, session after session. Its buffers are reused after each reply. */
export class RequestWriter {
  readonly #shape: Shape
  readonly #bytes: Buffer
  readonly #head: string
  readonly #name: string
  #session = 0
  #turn = 0
  #stamps = 0

  /** `name` makes its conversations different from those of all other connections. */
  constructor(shape: Shape, port: number, key: string, name: string, headers: Readonly<Record<string, string>> = {}) {
    this.#shape = shape
    this.#bytes = Buffer.from(shape.conversation.bytes)
    this.#name = name
    this.#head = [
      `POST ${shape.path} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${key}`,
      'Accept: application/json',
      'Content-Type: application/json',
      'User-Agent: guard-bench/1.0',
      'Accept-Language: *',
      'X-Stainless-Lang: js',
      'X-Stainless-Package-Version: 6.0.0',
      'X-Stainless-OS: Linux',
      'X-Stainless-Arch: x64',
      'X-Stainless-Retry-Count: 0',
      'X-Stainless-Timeout: 600',
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      '',
    ].join('\r\n')
  }

  next(): Outgoing {
    const { conversation, grows_from, session } = this.#shape
    if (this.#turn === session) {
      this.#turn = 0
      this.#session++
    }
    if (this.#turn === 0 || grows_from === undefined) this.#renew()
    const last = conversation.ends.length - 1
    const end = conversation.ends[grows_from === undefined ? last : Math.min(grows_from + this.#turn, last)] ?? 0
    this.#turn++
    const head = `${this.#head}x-guard-session-id: ${this.#name}-${this.#session}\r\nContent-Length: ${end + conversation.tail.length}\r\n\r\n`
    return [head, this.#bytes.subarray(0, end), conversation.tail]
  }

  #renew(): void {
    const { conversation, repeats } = this.#shape
    stamp(
      this.#bytes,
      repeats ? conversation.stamps.slice(0, 1) : conversation.stamps,
      `${this.#name}${String(this.#stamps++).padStart(6, '0')}`.slice(-STAMP),
    )
  }
}

/** A unique name of six characters. `set` numbers the sets of connections. Both numbers must be below 46,656. */
export const connectionName = (set: number, connection: number): string =>
  set.toString(36).padStart(3, '0') + connection.toString(36).padStart(3, '0')
