import { memberIn, sourceOf } from '#lib/json'
import type { Frame } from '#lib/json-rpc'
import type { Member } from './member.ts'

/** Requests of the client that are on their way, and the tokens by which it will hear of their progress. */
export class PendingTokens {
  readonly #keys = new Set<string>()
  readonly #tokens = new Map<string, Member>()

  /** Gives a function that ends the request; undefined: a request of this id is on its way. */
  add(member: Member, { key = '', text, params }: Frame): (() => void) | undefined {
    if (this.#keys.has(key)) return undefined
    const value = memberIn(memberIn(params, '_meta')?.value, 'progressToken')?.value
    const token = value === undefined ? undefined : sourceOf(text, value)
    this.#keys.add(key)
    if (token !== undefined) this.#tokens.set(token, member)
    return () => {
      this.#keys.delete(key)
      if (token !== undefined && this.#tokens.get(token) === member) this.#tokens.delete(token)
    }
  }

  get size(): number {
    return this.#keys.size
  }

  isOfAnother(member: Member, token: string): boolean {
    const owner = this.#tokens.get(token)
    return owner !== undefined && owner !== member
  }
}
