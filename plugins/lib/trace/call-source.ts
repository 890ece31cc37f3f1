import type { Call, Decision, Reading, Redactor, Row, Settled, Usage } from 'guard-gateway/core'
import { calledTool } from '#lib/request-reader'
import { cutText } from '#lib/text'
import type { RepliedCall } from '#lib/threads'
import { turnText } from './turn-text.ts'

/** Characters of names that upstreams and clients choose freely. */
const NAME_CHARS = 256
/** Calls of one reply that are kept. */
const MAX_REPLIED = 512

/** The two previews of a call; null where none is kept. */
export interface Previews {
  readonly request: string | null
  readonly response: string | null
}

/** What the facts of a settled call are read from. */
export interface CallSource {
  readonly settled: Settled
  readonly call: Call
  readonly decision: Decision
  readonly usage: Usage
  readonly row: Pick<Row, keyof ReturnType<typeof unjudged>>
  readonly previews: Previews
  readonly redact: Redactor
  /** A later request may name the reply. */
  readonly continues: boolean
}

export const callSource = (settled: Settled, redact: Redactor, previews: Previews, continues: boolean): CallSource => {
  const { call, decision, usage } = settled
  return { settled, call, decision, usage, row: decision.row ?? unjudged(call), previews, redact, continues }
}

/** Facts of a request that no rule judged, since its session or agent is paused: a thread of its own. */
const unjudged = ({ id, conversation, retry_mark, uncounted }: Call) => ({
  chain_tip: conversation.chain.tip,
  talk_tip: conversation.talk.tip,
  talk_items: conversation.talk.length,
  thread: id,
  root: true,
  parent: null,
  keys: [],
  new_turns: [],
  user_first: null,
  measures: {},
  retry: retry_mark,
  error_fingerprint: null,
  uncounted: uncounted ?? null,
})

/** Hashes, as what is kept of turns; a client that leaves its history out gives results by these ids. */
export const repliedCalls = (
  { calls }: Reading,
  redact: Redactor,
): readonly (Omit<RepliedCall, 'effect'> & Partial<Pick<RepliedCall, 'effect'>> & { readonly id: string })[] | null =>
  unlessEmpty(
    calls
      .slice(-MAX_REPLIED)
      .flatMap(({ id, tool, args }) =>
        id === null ? [] : [{ id: short(id, redact), ...calledTool(tool, args), tool: redact.text(tool) }],
      ),
  )

export const turnsOrNull = (
  { new_turns, user_first }: Pick<Row, 'new_turns' | 'user_first'>,
  redact: Redactor,
): string | null =>
  user_first === null ? null : turnText(new_turns, (name) => cutText(redact.text(name), NAME_CHARS), user_first)

export const errorType = ({ error }: Settled, redact: Redactor): string | null =>
  error === null ? null : shortOrNull(error.type ?? error.code, redact)

export const wholeOrNull = (count: number | null): number | null => (Number.isSafeInteger(count) ? count : null)

export const unlessEmpty = <T>(list: readonly T[]): readonly T[] | null => (list.length === 0 ? null : list)

export const memberedOrNull = <T extends object>(value: T): T | null => {
  for (const _ in value) return value
  return null
}

export const shortOrNull = (text: string | null, redact: Redactor): string | null =>
  text === null ? null : short(text, redact)

/** Redacts before it cuts, so that no half of a secret stays; the store redacts short text. */
export const short = (text: string, redact: Redactor): string =>
  text.length <= NAME_CHARS ? text : cutText(redact.text(text), NAME_CHARS)
