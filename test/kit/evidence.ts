import type {
  Call,
  Conversation,
  Detector,
  Ended,
  Envelope,
  Evidence,
  Outcome,
  Row,
  Rule,
  Session,
  Start,
  Totals,
  Turn,
} from 'guard-gateway/core'
import type { Static, TSchema } from 'typebox'
import { newId, sha256 } from '#lib/ids'
import { conversation as build, type Item } from './conversation.ts'
import { aCall, aRow, aSession, NOON } from './settled.ts'

/** What a hand-made request says; the rest is as in any request. */
export interface Said {
  readonly items?: readonly Item[]
  /** Makes the fingerprint another one while the items stay. */
  readonly extra?: string
  readonly at?: number
  readonly retry?: boolean
  readonly session?: Session | null
  readonly project?: string
  readonly subagent?: string
  readonly conversation?: Conversation
  readonly envelope?: Partial<Envelope>
  readonly over?: Partial<Call>
}

/** A request with a fresh id whose conversation is made of the given items. */
export const call = (said: Said = {}): Call => {
  const { at = NOON, envelope = {}, items = [], extra = '', subagent } = said
  const plain = aCall({ at })
  return {
    ...plain,
    id: newId('guardreq_', at),
    headers: subagent === undefined ? {} : { 'x-claude-code-agent-id': subagent },
    envelope: { ...plain.envelope, ...envelope },
    conversation: said.conversation ?? build(items, `${extra}${envelope.previous_response_id ?? ''}`),
    retry_mark: said.retry ?? false,
    session: said.session === undefined ? aSession({ requests: 0 }) : said.session,
    project_id: said.project ?? 'shop',
    ...said.over,
  }
}

/** A rule with a detector's defaults, enabled, action `block`. */
export const rule = <P extends TSchema>(
  detector: Detector<P>,
  over: Partial<Rule<Static<P>>> = {},
): Rule<Static<P>> => ({
  id: detector.id,
  rule_type: detector.id,
  threshold: detector.defaults.threshold,
  window_size: detector.defaults.window_size,
  action: 'block',
  enabled: true,
  ...over,
})

/** What an evidence differs in. */
export interface Given<P extends TSchema = TSchema> {
  readonly rule?: Partial<Rule<Static<P>>>
  readonly turns?: readonly Turn[]
  readonly row?: Partial<Row>
  readonly past?: readonly Row[]
  readonly session?: Partial<Totals>
  readonly starts?: readonly Start[]
  readonly at?: number
}

/** What a detector is shown: each letter of `word` is a request, equal letters equal requests, the last one in hand. */
export const evidence = <P extends TSchema>(
  detector: Detector<P>,
  word: string,
  given: Given<P> = {},
): Evidence<Static<P>> => {
  const rows = [...word].map((letter, index) => letterRow(letter, index))
  const inHand = rows.at(-1) ?? letterRow('', 0)
  return {
    rule: rule(detector, given.rule),
    call: call({ at: given.at ?? NOON }),
    row: { ...inHand, outcome: null, ...given.row },
    past: given.past ?? rows.slice(0, -1).reverse(),
    turns: given.turns ?? [],
    session: { ...nothingUsed, ...given.session },
    ...(given.starts === undefined ? {} : { starts: given.starts }),
  }
}

const nothingUsed: Totals = {
  requests: 0,
  failed: 0,
  unpriced: 0,
  tokens: 0,
  cost_micro: 0,
  reserved: 0,
  outcomes: [],
  probe_open: false,
}

const letterRow = (letter: string, index: number): Row =>
  aRow({ id: `request_${index}`, fingerprint: sha256(letter), chain_tip: sha256(letter), keys: [], new_turns: [] })

/** Outcomes a second apart, oldest first, the last one at `end`: `E`, `F` two different errors, `.` success, `~` left by the client, `|` interrupted. */
export const outcomes = (word: string, end = NOON): Ended[] =>
  [...word].map((letter, index) => ({
    id: `request_${index}`,
    ended_at: end - (word.length - 1 - index) * 1000,
    outcome: outcomeOf[letter] ?? 'upstream_error',
    error_fingerprint: letter in outcomeOf ? null : sha256(letter),
  }))

const outcomeOf: Readonly<Record<string, Outcome>> = {
  '.': 'ok',
  '~': 'client_aborted',
  '|': 'interrupted',
  _: 'blocked',
}
