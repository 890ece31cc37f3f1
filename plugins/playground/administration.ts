import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { type Gateway, GuardError, type Rule } from 'guard-gateway/core'
import { APPROVER_HEADER } from '#lib/approver'
import { jsonIn, jsonObjectOf } from '#lib/json'

/** What an endpoint of the gateway answered. */
export interface Answered {
  readonly status: number
  readonly body: string
}

/** Calls an endpoint of the gateway's own API; `path` starts with `/api`. */
export type Administration = (method: 'GET' | 'POST' | 'PUT', path: string, payload?: object) => Promise<Answered>

/** The API of the gateway that `app` serves, called inside the process. */
export const administrationOf =
  (gateway: Gateway, app: FastifyInstance): Administration =>
  async (method, path, payload) => {
    const url = `${app.prefix}${path}`
    // what it sets and resumes is its own
    const headers = { [APPROVER_HEADER]: gateway.approver.pass }
    const { statusCode, body } = await app.inject({
      method,
      url,
      headers,
      ...(payload === undefined ? {} : { payload }),
    })
    return { status: statusCode, body }
  }

/** Gives a project these rules as its own policy unless it has that already. Throws INVALID_POLICY with what the endpoint said. */
export const setRules = async (call: Administration, project: string, rules: readonly Rule[]): Promise<void> => {
  const path = `/api/policies/${project}`
  const before = jsonObjectOf(jsonIn((await call('GET', path)).body))
  if (before.source === 'own' && before.mode === null && isDeepStrictEqual(before.rules, rules)) return
  const { status, body } = await call('PUT', path, { mode: null, rules })
  if (status === 200) return
  const message = jsonObjectOf(jsonObjectOf(jsonIn(body)).error).message
  throw new GuardError('INVALID_POLICY', `The rules of "${project}" were refused (${status}): ${String(message)}`)
}
