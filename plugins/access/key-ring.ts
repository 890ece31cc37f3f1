import { hash, timingSafeEqual } from 'node:crypto'
import type { AgentKey, Identity, Keys } from 'guard-gateway/core'

const gatewayIdentity: Identity = Object.freeze({ agent_id: null, key_id: null })

/** Keeps digests alone. */
export class KeyRing implements Keys {
  /** The digest in hex. */
  #gateway: Buffer | undefined
  readonly #agents = new Map<string, AgentKey>()

  setGateway(key: string): void {
    this.#gateway = Buffer.from(hash('sha256', key, 'hex'), 'latin1')
  }
  add(key: AgentKey): void {
    this.#agents.set(key.hash, key)
  }
  remove(keyHash: string): void {
    this.#agents.delete(keyHash)
  }
  /** The gateway key is compared in constant time; agent keys are found by digest, which tells an observer nothing about a key. */
  identify(credentials: readonly string[]): Identity | undefined {
    let found: Identity | undefined
    for (const credential of credentials) {
      const digest = hash('sha256', credential, 'hex')
      const agent = this.#agents.size === 0 ? undefined : this.#agents.get(digest)
      if (agent !== undefined) {
        if (found !== undefined && found.agent_id !== null && found.agent_id !== agent.agent_id) return undefined
        found = { agent_id: agent.agent_id, key_id: agent.id }
      } else if (this.#isGateway(digest)) {
        found ??= gatewayIdentity
      }
    }
    return found
  }

  #isGateway(digest: string): boolean {
    if (this.#gateway === undefined) return false
    compared.write(digest, 'latin1')
    return timingSafeEqual(compared, this.#gateway)
  }
}

/** A digest in hex on its way through a comparison. */
const compared = Buffer.alloc(64)
