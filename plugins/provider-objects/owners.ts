import { type Gateway, GuardError, type Identity, type ProviderObject } from 'guard-gateway/core'
import { LRU } from 'tiny-lru'
import { sha256 } from '#lib/ids'
import { everyProject } from '#lib/principal'
import type { CallRecord } from '#lib/trace'
import type { ProviderObjectRow } from './tables.ts'

/** Who an object belongs to, and where it is. */
export type Owner = Pick<ProviderObjectRow, 'project_id' | 'upstream' | 'session_id'>

const IN_MEMORY = 10_000

/** Whose the objects of the provider's account are. An object belongs to the project whose reply named it first, for good. */
export class Owners {
  readonly #gateway: Gateway
  readonly #known = new LRU<Owner>(IN_MEMORY)

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** Puts an object on record, unless it is. It is known at once. */
  note(object: ProviderObject, owner: Owner): void {
    const id = keyOf(object)
    if (this.#known.get(id) !== undefined) return
    this.#known.set(id, owner)
    const { storage, clock, fault } = this.#gateway
    const row = { id, kind: object.kind, ...owner, created_at: clock.now() }
    storage.write([{ table: 'provider_objects', put: row, when: 'absent' }], { hold: true }).then(
      (isNew) => {
        // another process may have been first
        if (!isNew) this.#known.delete(id)
      },
      (error: unknown) => fault(error, 'provider-objects'),
    )
  }

  /** The owner of each; undefined: it is on no record. Throws NOT_FOUND if one belongs to projects that the key is not bound to. */
  async check(objects: readonly ProviderObject[], identity: Identity): Promise<readonly (Owner | undefined)[]> {
    const { projects } = identity
    const owners = await Promise.all(objects.map((object) => this.#find(object)))
    for (const [index, owner] of owners.entries())
      if (owner !== undefined && projects && !projects.includes(owner.project_id))
        throw notThere(objects[index] as ProviderObject)
    return owners
  }

  async #find(object: ProviderObject): Promise<Owner | undefined> {
    const id = keyOf(object)
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const stored = await everyProject(() => this.#gateway.storage.get('provider_objects', id))
    if (stored !== undefined) {
      this.#known.set(id, stored)
      return stored
    }
    const made = object.kind === 'response' ? (await recordsOf(this.#gateway, object.id))?.made : undefined
    return made === undefined ? undefined : { ...ownerIn(made), upstream: made.upstream ?? '' }
  }
}

const ownerIn = ({ project_id, session_id }: CallRecord) => ({ project_id, session_id })

const keyOf = ({ kind, id }: ProviderObject): string => sha256(`${kind} ${id}`)

const notThere = ({ kind }: ProviderObject): GuardError =>
  new GuardError(
    'NOT_FOUND',
    `The request names a ${kind.replaceAll('_', ' ')} that is not there in the projects of this key. Name one that they made, or use another key.`,
  )

/** Records that bear the id of one response: the request that made it, and retrievals that brought its usage. */
export interface ResponseRecords {
  readonly id: string
  /** The request that made it. */
  readonly made: CallRecord
  readonly records: readonly CallRecord[]
}

/** Retrievals record at most one row each time that they bring new usage. */
const MOST = 50

/** What is on record of a response, of whatever project; undefined if nothing is. */
export const recordsOf = async (gateway: Gateway, id: string): Promise<ResponseRecords | undefined> => {
  const records = await everyProject(() => gateway.storage.find('calls', { where: { response_id: id }, limit: MOST }))
  const made = records.rows.findLast(({ uncounted }) => uncounted !== 'retrieval')
  return made === undefined ? undefined : { id, made, records: records.rows }
}
