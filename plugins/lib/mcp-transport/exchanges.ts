import { type JsonValue, memberIn, sourceOf } from 'guard-gateway/lib/json'
import type { Frame } from 'guard-gateway/lib/json-rpc'
import type { Exchange } from './exchange.ts'

/** The requests of a client that its server has not answered yet. */
export class Exchanges {
  readonly #byKey = new Map<string, Exchange>()
  readonly #byToken = new Map<string, Exchange>()

  get size(): number {
    return this.#byKey.size
  }

  add(exchange: Exchange): void {
    this.#byKey.set(exchange.key, exchange)
    if (exchange.token !== undefined) this.#byToken.set(exchange.token, exchange)
  }

  has(key: string): boolean {
    return this.#byKey.has(key)
  }

  keys(): Iterable<string> {
    return this.#byKey.keys()
  }

  /** The exchange of a request, which is over with that. */
  take(key: string): Exchange | undefined {
    const exchange = this.#byKey.get(key)
    this.#byKey.delete(key)
    if (exchange?.token !== undefined) this.#byToken.delete(exchange.token)
    return exchange
  }

  /** The one exchange where there is no other. */
  only(): Exchange | undefined {
    const [only] = this.size === 1 ? this.#byKey.values() : []
    return only
  }

  /** The call that a message of the server belongs to, as far as that is known. */
  related(frame: Frame): Exchange | undefined {
    if (frame.method === 'notifications/progress')
      return this.#byToken.get(textOf(frame, frame.params, 'progressToken') ?? '')
    return frame.kind === 'request' ? this.only() : undefined
  }

  /** Takes all, each to be failed. */
  takeAll(): readonly Exchange[] {
    const all = [...this.#byKey.values()]
    this.#byKey.clear()
    this.#byToken.clear()
    return all
  }
}

/** The progress token of a request. */
export const tokenOf = (frame: Frame): string | undefined =>
  textOf(frame, memberIn(frame.params, '_meta')?.value, 'progressToken')

const textOf = ({ text }: Frame, value: JsonValue | undefined, name: string): string | undefined => {
  const member = memberIn(value, name)
  return member === undefined ? undefined : sourceOf(text, member.value)
}
