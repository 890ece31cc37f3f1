import type { Gateway, Settled } from 'guard-gateway/core'
import { SecondChanceCache } from './second-chance-cache.ts'

const MAX_RESPONSES = 10_000
/** Longer ids are not kept: upstreams choose them. */
const MAX_ID = 256

/** Which session a response belongs to, so that a request that continues a response continues its session. */
export class Responses {
  readonly #gateway: Gateway
  readonly #sessions = new SecondChanceCache<string>(MAX_RESPONSES)

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  learn({ call, reading: { response_id } }: Settled): void {
    if (response_id === null || call.session === null || response_id.length > MAX_ID) return
    if (this.#gateway.apiStyles.get(call.style)?.continues !== true) return
    this.#sessions.set(within(call.project_id, response_id), call.session.row.id)
  }

  /** Id of the session in whose reply the project got this response; undefined if that is not on record. */
  async sessionOf(project_id: string, response_id: string): Promise<string | undefined> {
    if (response_id.length > MAX_ID) return undefined
    return this.#sessions.load(within(project_id, response_id), async () => {
      if (this.#gateway.tables.get('calls') === undefined) return undefined
      const { rows } = await this.#gateway.storage.find('calls', { where: { response_id, project_id }, limit: 1 })
      return rows[0]?.session_id ?? undefined
    })
  }
}

const within = (project: string, responseId: string): string => `${project}\0${responseId}`
