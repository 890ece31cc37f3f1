import { hash, timingSafeEqual } from 'node:crypto'
import type { AgentKey, Identity, Keys } from 'guard-gateway/core'
import type { KeySource } from '#lib/principal'

const gatewayIdentity: Identity = Object.freeze({ agent_id: null, key_id: null })

/** Keeps digests alone. */
export class KeyRing implements Keys {
  /** The digest in hex. */
  #gateway: Buffer | undefined
  readonly #agents = new Map<string, AgentKey>()
  readonly #agentKeyIds = new Set<string>()
  readonly #sources: KeySource[] = []

  setGateway(key: string): void {
    this.#gateway = Buffer.from(hash('sha256', key, 'hex'), 'latin1')
  }
  add(key: AgentKey): void {
    this.#agents.set(key.hash, key)
    this.#agentKeyIds.add(key.id)
  }
  remove(keyHash: string): void {
    this.#agentKeyIds.delete(this.#agents.get(keyHash)?.id ?? '')
    this.#agents.delete(keyHash)
  }
  isLive(id: string): boolean {
    return this.#agentKeyIds.has(id) || this.#sources.some((source) => source.isLive(id))
  }
  addSource(source: KeySource): void {
    this.#sources.push(source)
  }
  async refresh(): Promise<void> {
    await Promise.all(this.#sources.map((source) => source.refresh()))
  }
  lookUp(credentials: readonly string[]): Promise<unknown> | undefined {
    const lookups = credentials
      .filter((credential) => KEY.test(credential))
      .flatMap((credential) => {
        const digest = hash('sha256', credential, 'hex')
        if (this.#agents.has(digest)) return []
        return this.#sources.flatMap((source) => source.lookUp(digest) ?? [])
      })
    return lookups.length === 0 ? undefined : Promise.all(lookups)
  }
  /** The gateway key is compared in constant time; other keys are found by digest, which tells an observer nothing about a key. */
  identify(credentials: readonly string[]): Identity | undefined {
    let found: Identity | undefined
    for (const credential of credentials) {
      const digest = hash('sha256', credential, 'hex')
      const next = this.#identityOf(digest)
      if (next === undefined) continue
      const preferred = found === undefined ? next : preferredOf(found, next)
      if (preferred === undefined) return undefined
      found = preferred
    }
    return found
  }

  #identityOf(digest: string): Identity | undefined {
    const agent = this.#agents.size === 0 ? undefined : this.#agents.get(digest)
    if (agent !== undefined) return { agent_id: agent.agent_id, key_id: agent.id }
    for (const source of this.#sources) {
      const identity = source.identify(digest)
      if (identity !== undefined) return identity
    }
    return this.#isGateway(digest) ? gatewayIdentity : undefined
  }

  #isGateway(digest: string): boolean {
    if (this.#gateway === undefined) return false
    compared.write(digest, 'latin1')
    return timingSafeEqual(compared, this.#gateway)
  }
}

/** The form of keys that are made here; others are never looked for in the storage. */
const KEY = /^gak_[A-Za-z0-9_-]{43}$/

/** An agent's key goes before a key with scopes, which goes before the gateway key; undefined: keys of two agents, or two with scopes. */
const preferredOf = (one: Identity, other: Identity): Identity | undefined => {
  const [first, second] = rankOf(one) >= rankOf(other) ? [one, other] : [other, one]
  if (rankOf(first) !== rankOf(second)) return first
  return first.agent_id === second.agent_id && (first.agent_id !== null || first.key_id === second.key_id)
    ? other
    : undefined
}

const rankOf = ({ agent_id, key_id }: Identity): number => (agent_id !== null ? 2 : key_id !== null ? 1 : 0)

/** A digest in hex on its way through a comparison. */
const compared = Buffer.alloc(64)
