import {
  type ApiStyle,
  type Call,
  type Decision,
  type Match,
  noUsage,
  type Outcome,
  type Registry,
  type Session,
  type Settled,
  undecided,
} from 'guard-gateway/core'
import type { RebuiltRequest } from '#lib/export-format'
import { type ReadRequest, RequestReader } from '#lib/request-reader'
import { newSessionRow } from '#lib/session'
import { decide } from '../../evaluate/decide.ts'
import { History } from '../../history/history.ts'
import { isUnpriced, settle } from '../../history/settle.ts'
import type { ActiveRule, Policy } from '../../policy.ts'
import type { JudgedRequest } from '../re-evaluate.ts'
import type { Unseen } from '../unseen.ts'

/** What a request cost, in millionths of the billing currency; undefined: nobody knows. */
export type PriceOf = (request: RebuiltRequest) => Promise<number | undefined>

/** What judging needs of a gateway. */
export interface JudgeContext {
  readonly policy: Policy
  readonly project_id: string
  readonly styles: Registry<ApiStyle>
  readonly price: PriceOf
  readonly fault: (error: unknown, where: string) => void
}

/** Judges the requests of one session as they would have been judged live, with every word at hand. */
export class SessionJudge {
  readonly #context: JudgeContext
  readonly #hasConversations: boolean
  readonly #reader = new RequestReader()
  #session: Session | undefined
  #history: History | undefined
  readonly judged: JudgedRequest[] = []

  /** `hasConversations`: the file holds what was said, so that loops can be seen. */
  constructor(context: JudgeContext, hasConversations: boolean) {
    this.#context = context
    this.#hasConversations = hasConversations
  }

  /** Throws INVALID_BODY for a request that its API style cannot read. */
  async add(request: RebuiltRequest): Promise<void> {
    const { policy, project_id, styles, fault } = this.#context
    this.#session ??= sessionOf(request, project_id)
    const session = this.#session
    this.#history ??= new History(session)
    const id = `request ${this.judged.length + 1}`
    const read = this.#reader.read(styles.need(request.style), request.body, request.session_id)
    const call = callOf(request, id, read, session)
    const micro = await this.#context.price(request)
    session.open++
    const decision = decide(undecided, call, session, this.#history, policy, fault, styles)
    decision.watch?.text(request.text)
    const cost = micro === undefined ? undefined : pricedAt(micro)
    const settled = settledOf(request, call, decision, cost)
    if (decision.row !== null) settle(settled, decision.row, session.row, this.#history, policy.priced)
    session.row.cost_micro += micro ?? 0
    session.open--
    this.judged.push({
      record: {
        id,
        received_at: request.at,
        model_requested: request.model,
        total_tokens: settled.usage.total_tokens,
        cost_micro: micro ?? null,
      },
      matches: [...decision.matches, ...(decision.watch?.matches ?? [])].filter((match) => this.#canJudge(match)),
      unseen: this.#unseen(settled.usage.total_tokens, micro),
    })
  }

  /** Without a conversation every request looks like any other. */
  #canJudge({ rule_id }: Match): boolean {
    if (this.#hasConversations) return true
    const active = this.#context.policy.active.find(({ rule }) => rule.id === rule_id)
    return active !== undefined && active.detector.kind !== 'loop'
  }

  #unseen(tokens: number, micro: number | undefined): ReadonlyMap<string, Unseen> {
    const unseen = new Map<string, Unseen>()
    const isFree = isUnpriced(tokens, micro === undefined ? 'unpriced' : 'priced')
    for (const active of this.#context.policy.active) {
      const why = this.#unseenBy(active) ?? (active.detector.needs === 'prices' && isFree ? 'no_price' : undefined)
      if (why !== undefined) unseen.set(active.rule.id, why)
    }
    return unseen
  }

  #unseenBy({ detector, period }: ActiveRule): Unseen | undefined {
    if (period !== undefined || detector.compares !== undefined) return 'beyond_session'
    return !this.#hasConversations && detector.kind !== 'budget' ? 'no_conversation' : undefined
  }
}

const pricedAt = (cost_micro: number) => ({ cost_micro, cost_source: 'priced' as const, price_version: null })

const nobody = { agent_id: null, key_id: null }

/** A session that begins with a request. */
const sessionOf = ({ session_id, agent, at }: RebuiltRequest, project_id: string): Session => ({
  open: 0,
  row: newSessionRow(session_id, {
    project_id,
    agent_id: null,
    external_id: session_id,
    external_source: 'import',
    client: agent,
    at,
  }),
})

/** The call that a request would have been. */
const callOf = (
  { style, body, at, agent }: RebuiltRequest,
  id: string,
  { envelope, conversation }: ReadRequest,
  session: Session,
): Call => ({
  id,
  at,
  tick: at,
  style,
  path: '',
  query: '',
  headers: {},
  raw_headers: [],
  client: agent,
  identity: nobody,
  body,
  envelope,
  conversation,
  retry_mark: false,
  mode_override: null,
  project_id: session.row.project_id,
  agent_id: null,
  mode: 'shadow',
  upstream: null,
  session,
  notes: {},
})

/** How it ended. */
const settledOf = (request: RebuiltRequest, call: Call, decision: Decision, cost: Settled['cost']): Settled => {
  const { usage = noUsage, error: failure, calls, response_id, ended_at, wordless } = request
  const outcome: Outcome = failure === undefined ? 'ok' : 'upstream_error'
  const error = failure === undefined ? null : { type: failure.type, code: null, message: failure.type }
  return {
    call,
    decision,
    outcome,
    status: failure === undefined ? 200 : (failure.status ?? 500),
    reading: {
      usage,
      output_bytes: 0,
      model: request.model,
      response_id,
      finish_reason: null,
      calls,
      error,
      complete: error === null,
      ...(wordless ? { wordless: true as const } : {}),
    },
    usage,
    usage_source: request.usage === undefined ? 'none' : 'reported',
    error,
    upstream: null,
    attempts: [],
    upstream_request_id: null,
    forwarded_at: call.at,
    first_byte_at: null,
    ended_at,
    bytes_out: 0,
    head: Buffer.alloc(0),
    ...(cost === undefined ? {} : { cost }),
  }
}
