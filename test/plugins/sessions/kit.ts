import assert from 'node:assert/strict'
import fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import {
  type Call,
  type Change,
  type Decision,
  errorBody,
  Gateway,
  GuardError,
  type Plugin,
  type Session,
  statusOf,
} from 'guard-gateway/core'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { type SessionsOptions, sessions } from 'guard-gateway/plugins/sessions'
import { foundation } from 'guard-gateway/presets/foundation'
import { guardErrorOf } from '../../../plugins/http/errors.ts'
import { strictValidation } from '../../../plugins/http/routes.ts'
import { tables } from '../../../plugins/recorder/index.ts'
import { type FakeClock, fakeClock } from '../../kit/clock.ts'
import { aCall, aDecision, NOON, settled } from '../../kit/settled.ts'
import { type Disk, disk } from './disk.ts'

/** The recorder's tables, into which this feature looks and writes. */
export const records: Plugin = {
  name: 'records',
  apply(gateway) {
    for (const table of tables) gateway.tables.add(table)
  },
}

/** A gateway with nothing but sessions, as its tests drive it. */
export interface House {
  readonly gateway: Gateway
  readonly clock: FakeClock
  readonly disk: Disk
  readonly faults: unknown[]
  /** A call that has passed the `request` hook. */
  ask(headers?: Record<string, string>, over?: Overrides): Promise<Call>
  /** Decides about a call that has passed `request`. */
  decide(call: Call, before?: Decision): Promise<Decision>
  /** Ends a call and puts its session on record, as the recorder does. */
  settle(call: Call, response_id?: string): Promise<void>
  http(method: NonNullable<InjectOptions['method']>, url: string, payload?: object): Promise<Answer>
  inject(options: InjectOptions): Promise<Answer>
  /** Ends this gateway and opens another one on the same disk and clock. */
  restart(): Promise<House>
  close(): Promise<void>
}

export interface Answer {
  readonly status: number
  readonly text: string
  readonly json: { readonly [member: string]: unknown }
}

export type Overrides = Partial<Omit<Call, 'envelope' | 'conversation'>> & {
  readonly hints?: Record<string, string>
  readonly previous_response_id?: string
  readonly opening?: string
}

export interface HouseOptions extends SessionsOptions {
  readonly disk?: Disk
  readonly clock?: FakeClock
}

export const openHouse = async ({
  disk: given,
  clock = fakeClock(NOON),
  ...options
}: HouseOptions = {}): Promise<House> => {
  const kept = given ?? disk()
  const faults: unknown[] = []
  const gateway = new Gateway({ clock }).use(...foundation())
  gateway.hooks.fault.tap('test', (error) => void faults.push(error))
  gateway.keys.setGateway('guard_test_key_0123456789')
  await gateway.use(kept.plugin, responses, sessions(options), records).open()
  const app = await bareApp(gateway)
  let made = 0

  const inject = async (request: InjectOptions): Promise<Answer> => {
    const { statusCode, body } = await app.inject(request)
    return { status: statusCode, text: body, json: body === '' ? {} : JSON.parse(body) }
  }
  const close = async () => {
    await app.close()
    await gateway.close()
  }
  return {
    gateway,
    clock,
    disk: kept,
    faults,
    inject,
    close,
    http: (method, url, payload) => inject({ method, url, ...(payload === undefined ? {} : { payload }) }),
    restart: async () => {
      await close()
      return openHouse({ ...options, disk: kept, clock })
    },
    ask: async (headers = {}, { hints = {}, previous_response_id, opening, ...over } = {}) => {
      const base = aCall()
      const call: Call = {
        ...base,
        id: `guardreq_${made++}`,
        style: 'responses',
        at: clock.now(),
        headers,
        identity: { agent_id: null, key_id: null },
        project_id: '',
        agent_id: null,
        session: null,
        notes: {},
        ...over,
        envelope: { ...base.envelope, hints, previous_response_id: previous_response_id ?? null },
        conversation: { ...base.conversation, opening: opening ?? base.conversation.opening },
      }
      await gateway.hooks.request.promise(call)
      return call
    },
    decide: (call, before = aDecision({ row: null })) => gateway.hooks.decision.promise(before, call),
    settle: async (call, response_id) => {
      const end = settled({ call, ended_at: clock.now() })
      await gateway.hooks.settle.promise({ ...end, reading: { ...end.reading, response_id: response_id ?? null } })
      await record(gateway, call, response_id)
    },
  }
}

/** The session row and, where the reply had an id, a row of the call. */
const record = async (gateway: Gateway, call: Call, response_id: string | undefined): Promise<void> => {
  const session = sessionOf(call)
  const { row } = session
  const { last_seen_at } = row
  const put: Change = { table: 'sessions', put: row, when: 'absent' }
  if (!(await gateway.storage.write([put]))) await gateway.storage.patch('sessions', row.id, { last_seen_at })
  session.stored = true
  if (response_id === undefined) return
  const record = { id: call.id, session_id: row.id, project_id: call.project_id, response_id }
  await gateway.storage.write([{ table: 'calls', put: record } as unknown as Change])
}

const bareApp = async (gateway: Gateway): Promise<FastifyInstance> => {
  const app = fastify({ routerOptions: { maxParamLength: 4096 } })
  app.setErrorHandler((thrown, _request, reply) => {
    const error = guardErrorOf(thrown)
    return reply.code(statusOf(error)).send({ error: errorBody(error) })
  })
  // no body is no body, with or without a content type, as everywhere in the gateway
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) =>
    done(null, body === '' ? undefined : JSON.parse(String(body))),
  )
  await strictValidation(app)
  await gateway.hooks.http.promise(app)
  return app
}

/** The session of a call that has passed `request`. */
export const sessionOf = (call: Call): Session => {
  assert.ok(call.session)
  return call.session
}

/** The id of the session of a call that has passed `request`. */
export const idOf = (call: Call): string => sessionOf(call).row.id

/** Whether what was thrown is a gateway error of this code. */
export const code =
  (wanted: string) =>
  (error: unknown): boolean =>
    error instanceof GuardError && error.code === wanted

/** The object under a member of an answer. */
export const object = (answer: Answer, member: string): { readonly [name: string]: unknown } => {
  const value = answer.json[member]
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value), `${member} in ${answer.text}`)
  return value as { readonly [name: string]: unknown }
}

/** The list under a member of an answer. */
export const list = (answer: Answer, member: string): readonly { readonly [name: string]: unknown }[] => {
  const value = answer.json[member]
  assert.ok(Array.isArray(value), `${member} in ${answer.text}`)
  return value
}
