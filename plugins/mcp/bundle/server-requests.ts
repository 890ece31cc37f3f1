import { memberIn, sourceOf } from '#lib/json'
import type { Frame } from '#lib/json-rpc'
import type { Member } from './member.ts'

/** A request of a server on its way to the client: its own id and progress token, as source text. */
export interface ServerRequest {
  readonly member: Member
  readonly id: string
  readonly token: string | undefined
}

/** Requests of all members to the client. Members count from one, each for itself; the client gets numbers of the bundle. */
export class ServerRequests {
  readonly #requests = new Map<number, ServerRequest>()
  readonly #numbers = new Map<Member, Map<string, number>>()
  #last = 0

  /** The number of a request; one that comes again, on a resumed stream, keeps its own. */
  add(request: ServerRequest): number {
    const numbers = this.#numbers.get(request.member) ?? new Map<string, number>()
    this.#numbers.set(request.member, numbers)
    const known = numbers.get(request.id)
    if (known !== undefined) return known
    this.#last++
    numbers.set(request.id, this.#last)
    this.#requests.set(this.#last, request)
    return this.#last
  }

  /** The request of a number, by its source text. */
  get(number: string): ServerRequest | undefined {
    return this.#requests.get(Number(number))
  }

  numberOf(member: Member, id: string): number | undefined {
    return this.#numbers.get(member)?.get(id)
  }

  /** The request is answered, or taken back. */
  delete(number: number): void {
    const request = this.#requests.get(number)
    this.#requests.delete(number)
    if (request !== undefined) this.#numbers.get(request.member)?.delete(request.id)
  }

  /** The member has a session no more. */
  forget(member: Member): void {
    for (const number of this.#numbers.get(member)?.values() ?? []) this.#requests.delete(number)
    this.#numbers.delete(member)
  }
}

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
