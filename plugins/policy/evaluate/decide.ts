import {
  type ApiStyle,
  type Call,
  type Decision,
  type Match,
  type Registry,
  type Row,
  type Session,
  undecided,
} from 'guard-gateway/core'
import { placeInThread, type ThreadPlacement } from '#lib/threads'
import type { History } from '../history/history.ts'
import { type Policy, policyVersion } from '../policy.ts'
import { actionFor, isAdvisory } from './actions.ts'
import { evaluate } from './evaluate.ts'
import type { EvidenceSources } from './evidence-sources.ts'
import { replyWatch } from './reply-watch.ts'
import { steer } from './steer.ts'

const BYTES_PER_TOKEN = 4

type Fault = (error: unknown, where: string) => void
type Writable<T> = { -readonly [K in keyof T]: T[K] }
type Draft = Writable<Row>

/**
 * Judges a request and adds it to the history, in one synchronous step.
 * A block that another plugin decided before stays, and no rule is evaluated; a flag stays unless a rule matches. `styles` are needed to steer.
 */
export const decide = (
  partial: Decision,
  call: Call,
  session: Session,
  history: History,
  policy: Policy,
  fault: Fault,
  styles?: Registry<ApiStyle>,
  sources?: EvidenceSources,
): Decision => {
  // only this request is in flight, so any reservation left belongs to none
  if (session.open <= 1) history.release()
  const before = completed(partial)
  history.limit = policy.reach
  const placed = placeInThread(call, history)
  const { parent } = placed
  if (parent !== undefined && holdsHistory(call) && styles?.get(call.style)?.continues === true)
    history.restore(parent, call.conversation)
  const row = draftOf(call, placed)
  const policy_version = policyVersion(policy, call.project_id)
  if (before.decision === 'block') return block({ ...before, policy_version }, row, session, history)
  if (call.uncounted !== undefined) return uncounted({ ...before, policy_version }, row, history)
  row.measures = measuresOf(policy, call, placed, history, fault)
  const { matches, faults } = evaluate(policy, call, session, history, placed, row, fault, sources)
  const decision: Writable<Decision> = { ...before, matches, faults, policy_version }
  const [first] = matches
  if (first === undefined && policy.streaming.length === 0) return forward(decision, row, session, history)
  const { refusal, steering } = actionFor(matches, call, session, placed, history, policy)
  if (refusal !== undefined) return block({ ...decision, ...refusal }, row, session, history)
  const steered = steering && steer(steering, call, styles?.get(call.style), !isAdvisory(steering, policy))
  const watch = replyWatch(policy, call, row, fault)
  if (watch !== undefined) decision.watch = watch
  if (steered !== undefined) decision.matches = matches.map((match) => (match === steering ? steered : match))
  return forward(flagged(decision, steered ?? first), row, session, history)
}

/** A plugin in JavaScript may have left members out. */
const completed = (partial: Decision): Decision => (partial === undecided ? partial : { ...undecided, ...partial })

/** It is remembered, since the next request may continue it, and no rule counts it. */
const uncounted = (before: Decision, row: Draft, history: History): Decision => {
  row.reserved = 0
  const decision = { ...before, row }
  addToHistory(decision, row, history)
  return decision
}

/** Takes back what `decide` counted of a request that has not ended: another plugin has changed the decision. */
export const withdraw = (
  { decision, row, repeats }: Decision,
  { uncounted }: Call,
  session: Session,
  history: History,
): void => {
  if (row === null) return
  if (repeats !== null) {
    row.retries--
    if (row.retries === 0) row.last_at = null
    return
  }
  history.withdraw(row)
  if (decision === 'block') {
    session.row.blocked--
    return
  }
  if (uncounted !== undefined) return
  const used = history.usageOf(row.thread)
  used.requests--
  used.reserved = Math.max(0, used.reserved - row.reserved)
  session.row.requests--
  if (decision === 'shadow_flag') session.row.flagged--
}

/** Counts a request as another plugin has decided, without evaluating a rule. `measures`: of the request. */
export const countDecided = (
  decision: Decision,
  measures: Row['measures'],
  call: Call,
  session: Session,
  history: History,
  policy: Policy,
  fault: Fault,
): Decision => {
  const row = draftOf(call, placeInThread(call, history))
  if (decision.decision === 'block') return block(decision, row, session, history)
  if (call.uncounted !== undefined) return uncounted(decision, row, history)
  row.measures = measures
  const watch = decision.watch ?? replyWatch(policy, call, row, fault)
  return forward(watch === undefined ? { ...decision } : { ...decision, watch }, row, session, history)
}

const holdsHistory = ({ envelope }: Call): boolean =>
  envelope.previous_response_id === null && envelope.conversation === null

const flagged = (decision: Writable<Decision>, match: Match | undefined): Writable<Decision> => {
  if (match === undefined) return decision
  decision.decision = 'shadow_flag'
  decision.reason = match.code
  decision.rule_id = match.rule_id
  decision.message = match.message
  return decision
}

const forward = (decision: Writable<Decision>, row: Draft, session: Session, history: History): Decision => {
  const probe = decision.matches.length > 0 && decision.matches.some(isProbe)
  decision.probe = probe
  decision.row = row
  row.probe = probe
  addToHistory(decision, row, history)
  if (probe) history.probe = row.id
  history.reserved += row.reserved
  const used = history.usageOf(row.thread)
  used.requests++
  used.reserved += row.reserved
  session.row.requests++
  if (decision.decision === 'shadow_flag') session.row.flagged++
  return decision
}

const isProbe = ({ probe }: Match): boolean => probe === true

/** A request that was blocked before for the same reason is counted on the earlier row. */
const block = (decision: Decision, row: Draft, session: Session, history: History): Decision => {
  const { reason, rule_id, pause_reason } = decision
  // a pause is never a repetition: a person has resumed the session since the last one
  const isSame = (known: Row): boolean =>
    known.decision === 'block' &&
    known.fingerprint === row.fingerprint &&
    known.reason === reason &&
    known.rule_id === rule_id
  const earlier = pause_reason === undefined ? history.rows.find(isSame) : undefined
  if (earlier !== undefined) {
    earlier.retries++
    earlier.last_at = row.at
    return { ...decision, repeats: earlier.id, row: earlier }
  }
  row.reserved = 0
  addToHistory(decision, row, history)
  session.row.blocked++
  return { ...decision, row }
}

const addToHistory = (decision: Decision, row: Draft, history: History): void => {
  row.decision = decision.decision
  row.reason = decision.reason
  row.rule_id = decision.rule_id
  row.matches = decision.matches
  history.append(row)
}

/** Tokens that a request of this size in bytes reserves until it ends; `most`: the limit of its reply. */
export const reservedFor = (bytes: number, most: number | null): number =>
  Math.ceil(bytes / BYTES_PER_TOKEN) + (most ?? 0)

/** For another attempt, the original request, since attempts are in no window. */
const parentId = ({ parent, original }: ThreadPlacement): string | null =>
  (original === undefined && parent?.retry === true ? parent.parent : parent?.id) ?? null

const draftOf = ({ id, at, tick, body, conversation, envelope, uncounted }: Call, placed: ThreadPlacement): Draft => ({
  id,
  at,
  tick,
  ended_at: null,
  fingerprint: conversation.fingerprint,
  chain_tip: placed.chain_tip,
  talk_tip: placed.talk_tip,
  items: conversation.chain.length,
  talk_items: conversation.talk.length,
  thread: placed.thread,
  root: placed.root,
  parent: parentId(placed),
  keys: placed.keys,
  new_turns: placed.new_turns,
  user_first: placed.user_first,
  measures: noMeasures,
  decision: 'allow',
  reason: null,
  rule_id: null,
  matches: [],
  retry: placed.original !== undefined,
  probe: false,
  uncounted: uncounted ?? null,
  retries: 0,
  last_at: null,
  outcome: null,
  error_fingerprint: null,
  response_id: null,
  total_tokens: 0,
  cost_micro: 0,
  reserved: reservedFor(body.length, envelope.max_tokens),
})

/** The largest measure in a row, as JSON. */
const MEASURE_BYTES = 256

/** The measures of a row without any. */
const noMeasures: Row['measures'] = Object.freeze({})

/** The measures that a policy's detectors take of a request; another attempt has those of its original. */
const measuresOf = (
  { measuring }: Policy,
  call: Call,
  placed: ThreadPlacement,
  history: History,
  fault: (error: unknown, where: string) => void,
): Row['measures'] => {
  if (measuring.length === 0) return noMeasures
  if (placed.original !== undefined) return placed.original.measures
  const measures: Record<string, unknown> = {}
  for (const detector of measuring) {
    try {
      const value = detector.measure?.(call, history.memory(placed.thread, detector.id))
      if (value !== undefined) measures[detector.id] = checked(value)
    } catch (error) {
      fault(error, `detector:${detector.id}`)
    }
  }
  return measures
}

const checked = (value: unknown): unknown => {
  const text = JSON.stringify(value)
  if (text !== undefined && Buffer.byteLength(text) <= MEASURE_BYTES) return value
  throw new TypeError(
    `a measure is JSON of at most ${MEASURE_BYTES} bytes; this one has ${text?.length ?? 'no JSON form'}`,
  )
}
