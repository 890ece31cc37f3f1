import fastify, { type InjectOptions } from 'fastify'
import { Gateway, type Plugin } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { contentChant } from 'guard-gateway/plugins/detectors/content-chant'
import { errorRetry } from 'guard-gateway/plugins/detectors/error-retry'
import { exactRepeat } from 'guard-gateway/plugins/detectors/exact-repeat'
import { maxCost } from 'guard-gateway/plugins/detectors/max-cost'
import { maxRequests } from 'guard-gateway/plugins/detectors/max-requests'
import { maxTokens } from 'guard-gateway/plugins/detectors/max-tokens'
import { noveltyStall } from 'guard-gateway/plugins/detectors/novelty-stall'
import { reasoningOnly } from 'guard-gateway/plugins/detectors/reasoning-only'
import { reread } from 'guard-gateway/plugins/detectors/reread'
import { rewordedCall } from 'guard-gateway/plugins/detectors/reworded-call'
import { sequenceRepeat } from 'guard-gateway/plugins/detectors/sequence-repeat'
import { staleTurns } from 'guard-gateway/plugins/detectors/stale-turns'
import { textRepeat } from 'guard-gateway/plugins/detectors/text-repeat'
import { threadRespawn } from 'guard-gateway/plugins/detectors/thread-respawn'
import { toolErrorStreak } from 'guard-gateway/plugins/detectors/tool-error-streak'
import { toolRepeat } from 'guard-gateway/plugins/detectors/tool-repeat'
import { wordedError } from 'guard-gateway/plugins/detectors/worded-error'
import { json } from 'guard-gateway/plugins/export-formats/json'
import { asFastifyPlugin, http } from 'guard-gateway/plugins/http'
import { mcp } from 'guard-gateway/plugins/mcp'
import { httpHosts } from 'guard-gateway/plugins/mcp-checks/http'
import { path } from 'guard-gateway/plugins/mcp-checks/path'
import { shell } from 'guard-gateway/plugins/mcp-checks/shell'
import { size } from 'guard-gateway/plugins/mcp-checks/size'
import { sql } from 'guard-gateway/plugins/mcp-checks/sql'
import { playground } from 'guard-gateway/plugins/playground'
import { policy } from 'guard-gateway/plugins/policy'
import { recorder } from 'guard-gateway/plugins/recorder'
import { replay } from 'guard-gateway/plugins/replay'
import { sessions } from 'guard-gateway/plugins/sessions'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { upstream } from 'guard-gateway/plugins/upstream'
import { foundation } from 'guard-gateway/presets/foundation'

export const KEY = 'guard_playground_test_key_0123'

/** A run as its endpoints answer it. */
export interface Run {
  readonly id: string
  readonly status: string
  readonly matched: boolean | null
  readonly style: string | null
  readonly mode: string
  readonly pace_ms: number
  readonly step_count: number
  readonly steps_done: number
  readonly error: { readonly code: string; readonly message: string } | null
  readonly project_id: string
  readonly agent_id: string
  readonly session_id: string | null
  readonly trace_ids: readonly string[]
  readonly replay_url: string | null
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly steps: readonly RanStep[]
}

export interface RanStep {
  readonly index: number
  readonly what: string
  readonly decision: string | null
  readonly reason: string | null
  readonly action: string | null
  readonly forwarded: boolean | null
  readonly approval_id: string | null
  readonly trace_id: string | null
  readonly span_id: string | null
  readonly http_status: number | null
  readonly rule_id: string | null
  readonly request_id: string | null
  readonly repeats: string | null
  readonly outcome: string | null
  readonly total_tokens: number | null
  readonly matched: boolean
  readonly missed: readonly string[]
}

export interface Answer<T> {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: T
}

/** A whole gateway, served inside the process. */
export interface House {
  readonly gateway: Gateway
  readonly faults: unknown[]
  ask<T = Run>(
    method: NonNullable<InjectOptions['method']>,
    url: string,
    payload?: object,
    headers?: Record<string, string>,
  ): Promise<Answer<T>>
  /** Starts a run and resolves when it has ended. */
  run(order: object): Promise<Run>
  /** Starts a run; 202 is expected. */
  start(order: object): Promise<Run>
  close(): Promise<void>
}

export interface HouseOptions {
  readonly storage?: Plugin
  readonly more?: readonly Plugin[]
  readonly default_mode?: 'shadow' | 'enforce'
  /** Names of plugins to leave out. */
  readonly without?: readonly string[]
}

/** Every plugin that a scenario meets, in the order of the default preset; no upstream is configured. */
const everything = ({ storage = memory(), more = [], default_mode = 'shadow' }: HouseOptions): readonly Plugin[] => [
  storage,
  responses,
  chatCompletions,
  messages,
  exactRepeat,
  toolRepeat,
  errorRetry,
  sequenceRepeat,
  maxRequests,
  maxTokens,
  maxCost,
  toolErrorStreak,
  noveltyStall,
  staleTurns,
  textRepeat,
  wordedError,
  rewordedCall,
  reread,
  threadRespawn,
  reasoningOnly,
  contentChant,
  http({ gateway_key: KEY }),
  upstream(),
  sessions(),
  policy({ default_mode }),
  recorder(),
  json,
  replay(),
  path,
  shell,
  httpHosts,
  size,
  sql,
  mcp(),
  playground(),
  ...more,
]

export const openHouse = async (options: HouseOptions = {}): Promise<House> => {
  const gateway = new Gateway().use(...foundation())
  const faults: unknown[] = []
  gateway.hooks.fault.tap('test', (error) => void faults.push(error))
  gateway.use(...everything(options).filter(({ name }) => options.without?.includes(name) !== true))
  const app = fastify()
  await app.register(asFastifyPlugin(gateway, { alone: true }))

  const ask = async <T = Run>(
    method: NonNullable<InjectOptions['method']>,
    url: string,
    payload?: object,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> => {
    const request = { method, url, headers, ...(payload === undefined ? {} : { payload }) }
    const { statusCode, body, headers: answered } = await app.inject(request)
    return { status: statusCode, headers: answered, body: body === '' ? undefined : JSON.parse(body) }
  }
  const start = async (order: object): Promise<Run> => {
    const { status, body } = await ask('POST', '/api/v1/playground/runs', order)
    if (status !== 202) throw new Error(`${status}: ${JSON.stringify(body)}`)
    return body
  }
  return {
    gateway,
    faults,
    ask,
    start,
    run: async (order) => {
      const { id } = await start(order)
      return ended({ ask }, id)
    },
    close: () => app.close(),
  }
}

/** The run when it has ended; asks as a client would. */
export const ended = async ({ ask }: Pick<House, 'ask'>, id: string): Promise<Run> => {
  for (;;) {
    const { body } = await ask('GET', `/api/v1/playground/runs/${id}`)
    if (body.status !== 'queued' && body.status !== 'running') return body
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** A house that is closed at the end of the work. */
export const inHouse = async <T>(work: (house: House) => Promise<T>, options: HouseOptions = {}): Promise<T> => {
  const house = await openHouse(options)
  try {
    return await work(house)
  } finally {
    await house.close()
  }
}

/** Holds back every forwarded request until it is let go, or the gateway closes. */
export const gate = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const held = { count: 0 }
  const plugin: Plugin = {
    name: 'gate',
    apply: (gateway) => {
      gateway.hooks.forward.tapPromise({ name: 'gate', stage: -1000 }, async () => {
        held.count++
        await promise
        return undefined
      })
      gateway.hooks.close.tap({ name: 'gate', stage: -1000 }, () => resolve())
    },
  }
  return { plugin, held, open: () => resolve() }
}
