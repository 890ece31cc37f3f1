import { readFileSync } from 'node:fs'
import fastify from 'fastify'
import {
  type Call,
  type Decision,
  type Detector,
  detector,
  errorBody,
  Gateway,
  noUsage,
  type Plugin,
  type Rule,
  type Session,
  type Settled,
  statusOf,
  undecided,
} from 'guard-gateway/core'
import { errorRetry } from 'guard-gateway/plugins/detectors/error-retry'
import { exactRepeat } from 'guard-gateway/plugins/detectors/exact-repeat'
import { maxRequests } from 'guard-gateway/plugins/detectors/max-requests'
import { maxTokens } from 'guard-gateway/plugins/detectors/max-tokens'
import { sequenceRepeat } from 'guard-gateway/plugins/detectors/sequence-repeat'
import { toolRepeat } from 'guard-gateway/plugins/detectors/tool-repeat'
import { type PolicyOptions, policy } from 'guard-gateway/plugins/policy'
import { recorder } from 'guard-gateway/plugins/recorder'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { foundation } from 'guard-gateway/presets/foundation'
import { parse } from 'yaml'
import { strictValidation } from '../../../plugins/http/routes.ts'
import { tables } from '../../../plugins/sessions/tables.ts'
import { type FakeClock, fakeClock } from '../../kit/clock.ts'
import { aReading, aSession, NOON, settled } from '../../kit/settled.ts'

/** The rules that a project has unless told otherwise, as the repository ships them. */
export const defaultRules: unknown = parse(
  readFileSync(new URL(import.meta.resolve('guard-gateway/policies/default.yml')), 'utf8'),
)

/** Its own tables, and the pause of a session, which is decided before any rule. */
const pauses: Plugin = {
  name: 'sessions',
  apply: (gateway) => {
    for (const table of tables) gateway.tables.add(table)
    gateway.hooks.decision.tap('sessions', (decision, { session }) =>
      session?.row.paused === true
        ? { ...decision, decision: 'block', status: 409, reason: 'PAUSED_SESSION', rule_id: '', message: 'paused' }
        : decision,
    )
  },
}

export interface Bench {
  readonly gateway: Gateway
  readonly clock: FakeClock
  readonly faults: { readonly error: unknown; readonly where: string }[]
  /** Brings a call to its decision; it stays in progress. */
  ask(call: Call): Promise<Decision>
  /** Ends a call that was asked. */
  end(call: Call, decision: Decision, over?: Partial<Settled>): Promise<void>
  /** Both. */
  send(call: Call, over?: Partial<Settled>): Promise<Decision>
}

/** A gateway with the policy plugin, the six detectors and `more`, in memory, at noon. */
export const startBench = async (options: PolicyOptions = {}, more: readonly Plugin[] = []): Promise<Bench> => {
  const clock = fakeClock(NOON)
  const detectors = [exactRepeat, toolRepeat, errorRetry, sequenceRepeat, maxRequests, maxTokens, ...more]
  const gateway = new Gateway({ clock }).use(
    ...foundation(),
    memory(),
    ...detectors,
    pauses,
    policy(options),
    recorder(),
  )
  const faults: { error: unknown; where: string }[] = []
  gateway.hooks.fault.tap('test', (error, where) => void faults.push({ error, where }))
  await gateway.open()
  const ask = async (call: Call): Promise<Decision> => {
    await gateway.hooks.request.promise(call)
    if (call.session !== null) call.session.open++
    return gateway.hooks.decision.promise(undecided, call)
  }
  const end = async (call: Call, decision: Decision, over: Partial<Settled> = {}): Promise<void> => {
    const blocked = decision.decision === 'block'
    await gateway.hooks.settle.promise(
      settled({
        call,
        decision,
        ended_at: clock.now(),
        ...(blocked
          ? { outcome: 'blocked', status: 429, usage: noUsage, reading: aReading({ response_id: null }) }
          : {}),
        ...over,
      }),
    )
    if (call.session !== null) call.session.open--
  }
  const send = async (call: Call, over?: Partial<Settled>): Promise<Decision> => {
    const decision = await ask(call)
    await end(call, decision, over)
    return decision
  }
  return { gateway, clock, faults, ask, end, send }
}

/** A session that has not been heard of before. */
export const newSession = (over: Partial<Session['row']> = {}): Session => ({
  ...aSession({ requests: 0, ...over }),
  open: 0,
})

/** The same session after a restart: what storage holds, nothing else. */
export const restarted = ({ row }: Session): Session => ({ row: structuredClone(row), open: 0 })

/** How a request ends in the error of a busy provider. */
export const busy: Partial<Settled> = {
  outcome: 'upstream_error',
  status: 529,
  error: { type: 'overloaded_error', code: null, message: 'Overloaded' },
  usage: noUsage,
  reading: aReading({ response_id: null }),
}

/** A rule that speaks of every request. */
export const always = (id: string, over: Partial<Rule> = {}): Rule => ({
  id,
  rule_type: 'exact_repeat',
  threshold: 1,
  window_size: 8,
  action: 'block',
  enabled: true,
  ...over,
})

/** A detector that does what it is told. */
export const detecting = (id: string, detect: Detector['detect'], kind: Detector['kind'] = 'loop') =>
  detector({ id, code: id.toUpperCase(), version: '1', kind, defaults: { threshold: 1, window_size: 0 }, detect })

/** What the resume endpoint does to a session. */
export const resume = (session: Session, at: number): void => {
  session.row.seen_tips = session.tips?.() ?? []
  session.row.resumed_at = at
  session.cleared?.()
}

/** The same with its routes: `get` and `put` the policy of a project. */
export const startApi = async (options: PolicyOptions = {}, more: readonly Plugin[] = []) => {
  const bench = await startBench({ defaults: defaultRules, ...options }, more)
  const app = fastify()
  app.setErrorHandler((error, _request, reply) => reply.code(statusOf(error)).send({ error: errorBody(error) }))
  await strictValidation(app)
  await bench.gateway.hooks.http.promise(app)
  const get = async (project = 'shop') => (await app.inject({ url: `/api/policies/${project}` })).json()
  const put = async (payload: object, project = 'shop') => {
    const reply = await app.inject({ method: 'PUT', url: `/api/policies/${project}`, payload })
    return { status: reply.statusCode, body: reply.json() }
  }
  return { ...bench, app, get, put }
}
