import type { Finding, Match } from 'guard-gateway/core'
import type { CallRecord } from '#lib/trace'
import { matched } from '../evaluate/evaluate.ts'
import { isUnpriced } from '../history/settle.ts'
import type { ActiveRule, Policy } from '../policy.ts'
import type { ProjectEvidence } from './project-replay.ts'
import type { NotSimulated } from './simulation.ts'

/** A preview this long, or of a reply with more bytes than this, may be cut. */
const WHOLE_PREVIEW = { chars: 500, bytes: 1_000 }

/** What of a stored request a rule would have needed and is not on record; undefined: nothing. */
export type Unseen = Extract<
  NotSimulated['reason'],
  'no_reply_text' | 'no_measure' | 'no_price' | 'too_long_ago' | 'beyond_session' | 'no_conversation'
>

/** Why a rule that judges requests cannot judge this one. */
export const unseenBy = (
  { detector, period }: ActiveRule,
  record: CallRecord,
  evidence: ProjectEvidence | undefined,
): Unseen | undefined => {
  if (record.decision === 'block') return undefined
  if (detector.measure !== undefined && record.measures?.[detector.id] === undefined) return 'no_measure'
  if (detector.needs === 'prices' && isUnpriced(record.total_tokens, record.cost_source)) return 'no_price'
  const isWide = period !== undefined || detector.compares !== undefined
  if (isWide && evidence?.knows(record.id) !== true) return 'too_long_ago'
}

/** Nobody replied to a request that ended so. */
const unanswered: ReadonlySet<CallRecord['outcome']> = new Set(['blocked', 'unreachable', 'upstream_error'])

/** Matches of reply rules in a stored reply, from its live match or its stored text; ids of rules that cannot be evaluated. */
export const replyTextFor = (
  { streaming }: Policy,
  record: CallRecord,
  fault: (error: unknown, where: string) => void,
): { readonly matches: readonly Match[]; readonly deaf: readonly string[] } => {
  const matches: Match[] = []
  const deaf: string[] = []
  if (unanswered.has(record.outcome)) return { matches, deaf }
  for (const active of streaming) {
    try {
      const finding = watchedLive(active, record) ?? watchedInPreview(active, record)
      if (finding !== undefined) matches.push(matched(active, { where: [{ request: record.id }], ...finding }))
      else if (!isWhole(record)) deaf.push(active.rule.id)
    } catch (error) {
      fault(error, `detector:${active.detector.id}`)
      deaf.push(active.rule.id)
    }
  }
  return { matches, deaf }
}

/** What reached a higher threshold reaches this one. */
const watchedLive = ({ rule }: ActiveRule, { matches }: CallRecord): Finding | undefined => {
  const live = matches?.find(
    ({ rule_type, evidence, threshold }) =>
      rule_type === rule.rule_type && evidence === 'stream' && threshold >= rule.threshold,
  )
  if (live === undefined) return undefined
  const { message, evidence, count } = live
  return { message, evidence, ...(count === undefined ? {} : { count }) }
}

const watchedInPreview = ({ detector, rule }: ActiveRule, { response_preview }: CallRecord): Finding | undefined =>
  response_preview === null ? undefined : detector.stream?.(rule).push(response_preview)

const isWhole = ({ response_preview, bytes_out, output_tokens }: CallRecord): boolean =>
  output_tokens === 0 ||
  (response_preview !== null && response_preview.length < WHOLE_PREVIEW.chars && bytes_out <= WHOLE_PREVIEW.bytes)

/** What a rule could not examine in a number of sessions, and what would help. */
export const messageOf = (
  rule_id: string,
  { reason, sessions, requests }: { readonly reason: Unseen; readonly sessions: number; readonly requests: number },
  of: number,
  unpriced: readonly string[],
): string => {
  const where = `${requests} requests in ${sessions} of ${of} sessions`
  if (reason === 'no_price')
    return `"${rule_id}": ${where} have no price and count 0 here. Add ${unpriced.slice(0, MODELS).join(', ')}${unpriced.length > MODELS ? ' …' : ''} to the price file.`
  if (reason === 'too_long_ago')
    return `"${rule_id}": ${where} came too long ago: what agents and projects had done by then is looked at in the newest 100,000 requests of the project. Try a range that begins later.`
  if (reason === 'beyond_session')
    return `"${rule_id}": ${where} come from files, which tell nothing of what agents and projects did beyond a session. Try it on stored sessions.`
  if (reason === 'no_conversation')
    return `"${rule_id}": ${where} come from traces, which hold no conversations: what it looks at is not there, or in part. Session files of agents have them.`
  if (reason === 'no_measure')
    return `"${rule_id}": ${where} came while no rule of its type was on, so that what it looks at was not noted. Keep it on with the action flag, and try again later.`
  return `"${rule_id}": of ${where} the reply's text is not on record, and it spoke of none of them then. It listens to live replies; keep it on with the action flag.`
}

const MODELS = 5

/** Why a rule of an unknown type says nothing. */
export const withoutDetector = (rule_id: string, rule_type: string): string =>
  `"${rule_id}" was not tried: there is no detector "${rule_type}".`

/** What a simulation cannot know of a rule that changes requests. */
export const steering = (rule_id: string, sessions: number): string =>
  `"${rule_id}" would have changed a request in each of ${sessions} sessions; how the agent would have gone on is not known.`
