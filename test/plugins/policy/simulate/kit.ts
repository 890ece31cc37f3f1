import type { Plugin, Settled } from 'guard-gateway/core'
import type { Simulation } from '../../../../plugins/policy/simulate/index.ts'
import { type Item, system, user } from '../../../kit/conversation.ts'
import { call } from '../../../kit/evidence.ts'
import { newSession, startApi } from '../kit.ts'

export const begin: readonly Item[] = [system('s'), user('fix it')]

/** An API whose sessions are stored, and a way to ask it what rules would have done. */
export const startSimulations = async (more: readonly Plugin[] = [], rules: object = {}) => {
  const api = await startApi(rules, more)
  /** One request a list of items, ten seconds apart. */
  const live = async (id: string, requests: readonly (readonly Item[])[], over: Partial<Settled> = {}) => {
    const session = newSession({ id, created_at: api.clock.now(), last_seen_at: api.clock.now() })
    await api.gateway.storage.put('sessions', session.row)
    for (const items of requests) {
      api.clock.advance(10_000)
      await api.send(call({ session, items, at: api.clock.now() }), over)
    }
    await api.gateway.storage.patch('sessions', id, { last_seen_at: api.clock.now() })
    return session
  }
  const post = async (payload: object, project = 'shop') => {
    const reply = await api.app.inject({ method: 'POST', url: `/api/policies/${project}/simulate`, payload })
    return { status: reply.statusCode, body: reply.json() as Simulation }
  }
  return { ...api, live, post }
}

/** Requests of one session, each longer than the last by a step. */
export const growing = (count: number, of: (index: number) => readonly Item[]): Item[][] =>
  Array.from({ length: count }, (_, index) => [
    ...begin,
    ...Array.from({ length: index }, (_none, number) => of(number)).flat(),
  ])
