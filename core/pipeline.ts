import type { Attempt, Call, Outcome } from './call.ts'
import { timeSince } from './clock.ts'
import type { ApiStyle } from './contracts/api-style.ts'
import type { Client, Reply } from './contracts/reply.ts'
import { type Decision, undecided } from './decision.ts'
import { type ErrorBody, errorBody, GuardError, isFault, statusOf } from './errors.ts'
import type { Gateway } from './gateway.ts'
import { metered } from './pipeline/metering.ts'
import { refusalText } from './pipeline/refusal-text.ts'
import type { RelayResult } from './pipeline/relay.ts'
import { goneOutcome, type SentReply, sendReply } from './pipeline/send-reply.ts'
import { noReading } from './pipeline/tap.ts'
import type { Reading, Settled } from './settled.ts'
import { settledConversation } from './turns.ts'

const TAP_LIMIT_MS = 10_000
const SETTLE_LIMIT_MS = 5_000

/**
 * Takes one call from arrival to settlement and answers its client.
 * Throws only before anything was decided; nothing is recorded or sent then.
 */
export const handle = async (gateway: Gateway, call: Call, client: Client): Promise<void> => {
  const requested = gateway.deadlines.withDeadline<void>(TAP_LIMIT_MS, 'request', call, (done) =>
    gateway.hooks.request.callAsync(call, done),
  )
  if (requested instanceof Promise) await requested
  const { session } = call
  if (session !== null) session.open++
  try {
    const decided = gateway.deadlines.withDeadline<Decision>(TAP_LIMIT_MS, 'decision', call, (done) =>
      gateway.hooks.decision.callAsync(undecided, call, done),
    )
    const decision = decided instanceof Promise ? await decided : decided
    if (decision.decision === 'block') await refuse(gateway, call, decision, client)
    else await exchange(gateway, call, decision, client)
  } finally {
    if (session !== null) session.open--
  }
}

/** Records a call whose reply came with another request: what it used counts, and nothing refuses it. */
export const settleLate = async (gateway: Gateway, call: Call, reply: Reply, reading: Reading): Promise<void> => {
  await gateway.hooks.request.promise(call)
  const { session } = call
  if (session !== null) session.open++
  try {
    const decision = await gateway.hooks.decision.promise(undecided, call)
    const outcome = reading.error === null ? 'ok' : 'upstream_error'
    await settle(gateway, call, decision, { outcome, status: reply.status, reading, reply, forwarded_at: call.at })
  } finally {
    if (session !== null) session.open--
  }
}

/** What differs between the ways a call can end. */
interface Settlement {
  readonly outcome: Outcome
  readonly status: number
  readonly reading?: Reading
  readonly error?: Settled['error']
  readonly reply?: Reply
  readonly forwarded_at?: number
  readonly relayed?: RelayResult
  readonly bytes?: number
  readonly attempts?: readonly Attempt[]
}

/** Settles a call; gives a promise if the record must be waited for. */
const settle = (gateway: Gateway, call: Call, decision: Decision, ending: Settlement): Promise<void> | undefined => {
  const { outcome, status, reading = noReading, reply, relayed } = ending
  const { usage, usage_source } = metered(reading, outcome, call)
  const settled: Settled = {
    call,
    decision: withReplyMatches(decision),
    outcome,
    status,
    reading,
    usage,
    usage_source,
    error: ending.error ?? reading.error,
    upstream: reply?.upstream ?? call.upstream,
    attempts: reply?.attempts ?? ending.attempts ?? [],
    upstream_request_id: reply?.upstream_request_id ?? null,
    forwarded_at: ending.forwarded_at ?? null,
    first_byte_at: relayed?.first_byte_at ?? null,
    ended_at: timeSince(gateway.clock, call),
    bytes_out: relayed?.bytes ?? ending.bytes ?? 0,
    head: relayed?.head ?? EMPTY,
  }
  const lost = (error: unknown): void => gateway.fault(error, 'settle')
  const release = (): void => {
    call.conversation = settledConversation(call.conversation)
  }
  try {
    const recorded = gateway.deadlines.withDeadline<void>(SETTLE_LIMIT_MS, 'settle', settled, (done) =>
      gateway.hooks.settle.callAsync(settled, done),
    )
    if (!(recorded instanceof Promise)) {
      release()
      return undefined
    }
    const afterRecord = recorded.then(release, lost)
    return call.notes.recorded === false ? undefined : afterRecord
  } catch (error) {
    // taps do not throw here, but interceptors may
    lost(error)
    return undefined
  }
}

/** Adds the matches found in the reply to the decision; the first becomes the reason of a request that no rule matched. */
const withReplyMatches = (decision: Decision): Decision => {
  const { matches: found = [] } = decision.watch ?? {}
  const [first] = found
  if (first === undefined) return decision
  const matches = [...decision.matches, ...found]
  if (decision.decision !== 'allow') return { ...decision, matches }
  const { code: reason, rule_id, message } = first
  return { ...decision, decision: 'shadow_flag', reason, rule_id, message, matches }
}

const EMPTY = new Uint8Array(0)
const JSON_TYPE = ['content-type', 'application/json']

const refuse = async (gateway: Gateway, call: Call, decision: Decision, client: Client): Promise<void> => {
  const wire = decision.status ?? 429
  const status = client.blockStatus?.(wire) ?? wire
  const bytes = refusalIn(gateway, call, status, {
    type: 'guard_block',
    code: decision.reason ?? '',
    message: decision.message,
    session_id: call.session?.row.id ?? '',
    rule_id: decision.rule_id ?? '',
  })
  await settle(gateway, call, decision, { outcome: 'blocked', status, bytes: bytes.length })
  const headers = [...JSON_TYPE, 'x-should-retry', 'false', 'x-request-id', call.id, 'request-id', call.id]
  respond(client, status, [...headers, ...guardHeaders(call, decision)], bytes)
}

const exchange = async (gateway: Gateway, call: Call, decision: Decision, client: Client): Promise<void> => {
  const forwardedAt = timeSince(gateway.clock, call)
  let reply: Reply | undefined
  try {
    reply = await gateway.hooks.forward.promise(call, client)
    if (reply === undefined) throw new GuardError('NO_UPSTREAM')
  } catch (error) {
    return unreachable(gateway, call, decision, client, forwardedAt, error)
  }
  let passed: SentReply
  try {
    const headers = guardHeaders(call, decision, [...reply.headers])
    passed = await sendReply(gateway, { call, decision, client, reply, headers })
  } catch (error) {
    // a plugin may give a reply that cannot be sent
    const { body } = reply as { readonly body?: { destroy?(): void } }
    body?.destroy?.()
    const [status, told] = [statusOf(error), errorBody(error)]
    await settle(gateway, call, decision, {
      outcome: 'truncated',
      status,
      reply,
      error: { type: told.type, code: told.code, message: told.message },
      forwarded_at: forwardedAt,
    })
    throw error
  }
  await settle(gateway, call, decision, { ...passed, status: reply.status, reply, forwarded_at: forwardedAt })
  const { ended, held } = passed.relayed
  if (ended === 'complete' || ended === 'stopped') client.end(held)
  else client.cut()
}

/** Answers 502 or 504 in the path's style if the upstream gave no reply, and settles the call. */
const unreachable = async (
  gateway: Gateway,
  call: Call,
  decision: Decision,
  client: Client,
  forwardedAt: number,
  cause: unknown,
) => {
  const error = cause instanceof GuardError ? cause : new GuardError('UPSTREAM_UNREACHABLE', undefined, { cause })
  if (isFault(cause)) gateway.fault(cause, 'forward')
  const body = errorBody(error)
  const outcome = client.gone ? goneOutcome(client) : 'unreachable'
  const status = client.gone ? 0 : statusOf(error)
  const bytes = refusalIn(gateway, call, status, body)
  await settle(gateway, call, decision, {
    outcome,
    status,
    forwarded_at: forwardedAt,
    bytes: client.gone ? 0 : bytes.length,
    attempts: error.place.attempts ?? [],
    // a client that disconnects is no error of the upstream
    ...(client.gone ? {} : { error: body }),
  })
  if (client.gone) return
  const further = Object.entries(error.place.headers ?? {}).flat()
  respond(client, status, [...JSON_TYPE, ...further, ...guardHeaders(call, decision)], bytes)
}

const respond = (client: Client, status: number, headers: readonly string[], body: Uint8Array): void => {
  client.head(status, ['content-length', String(body.length), ...headers], false)
  client.end(body)
}

/** Appends our own headers. */
const guardHeaders = (call: Call, decision: Decision, headers: string[] = []): string[] => {
  headers.push('x-guard-request-id', call.id, 'x-guard-decision', decision.decision)
  if (decision.reason !== null) headers.push('x-guard-reason', decision.reason)
  if (call.session !== null) headers.push('x-guard-session-id', call.session.row.id)
  if (call.trace !== undefined) headers.push('x-guard-trace-id', call.trace.trace_id)
  if (call.notes.recorded === false) headers.push('x-guard-recorded', 'false')
  return headers
}

/** One of our own errors in the call's dialect. */
const refusalIn = (gateway: Gateway, call: Call, status: number, body: ErrorBody): Buffer =>
  Buffer.from(refusalText(styleOf(gateway, call), body, call.id, status, gateway.fault))

const styleOf = (gateway: Gateway, call: Call): ApiStyle => gateway.apiStyles.need(call.style)
