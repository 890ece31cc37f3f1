import { detector, type Evidence, elapsed, type Finding, type Row } from 'guard-gateway/core'
import {
  hasNewUserMessage,
  isIgnoredRequest,
  optionalInteger,
  repeatsOfOne,
  requestParams,
  requestPlaces,
  rowsInWindow,
  ruleParams,
} from 'guard-gateway/lib/detection'
import type { Static } from 'typebox'

const SECOND = 1000

const params = ruleParams({
  ...requestParams({
    user_message: 'Requests before the last user message do not count',
    fresh_starts:
      'Where the client names no session, conversations that begin alike do not count one another, nor do those of different subagents anywhere',
  }),
  within_seconds: optionalInteger(
    1,
    86_400,
    'Only requests of the last so many seconds count; all in the window unless set',
  ),
})

type RuleParams = Static<typeof params>

/** The same normalised request, again and again. */
export const exactRepeat = detector({
  id: 'exact_repeat',
  code: 'LOOP_EXACT',
  summary: 'The same request was repeated',
  version: '1',
  kind: 'loop',
  defaults: { threshold: 3, window_size: 8 },
  unit: 'equal requests',
  params,
  reachable: ({ threshold, window_size }) => threshold <= Math.max(1, window_size),

  detect(evidence: Pick<Evidence<RuleParams>, 'rule' | 'call' | 'row' | 'past'>): Finding | undefined {
    const { rule, row, past } = evidence
    const reach = rowsInWindow(past, rule.window_size)
    let equal = 1
    for (let index = 0; index < reach; index++) if (past[index]?.fingerprint === row.fingerprint) equal++
    if (equal < rule.threshold) return undefined
    const same = counted(evidence, reach)
    const count = same.length + 1
    if (count < rule.threshold) return undefined
    const within = rule.params?.within_seconds
    return {
      message: `${count} identical requests in the last ${within === undefined ? reach + 1 : `${within} s`}`,
      evidence: 'session',
      count,
      where: requestPlaces([row.id, ...same.map((earlier) => earlier.id)]),
      // Identical requests carry identical results.
      results_equal: true,
    }
  },
})

/** The equal requests that count beside the one in hand, newest first. */
const counted = (
  { rule, call, row, past }: Pick<Evidence<RuleParams>, 'rule' | 'call' | 'row' | 'past'>,
  reach: number,
): readonly Row[] => {
  const settings = rule.params ?? {}
  const within = settings.within_seconds === undefined ? Number.POSITIVE_INFINITY : settings.within_seconds * SECOND
  const window = settings.reset_on_user_message === true ? sinceUser(row, past.slice(0, reach)) : past.slice(0, reach)
  const equal = window.filter(
    (earlier) =>
      earlier.fingerprint === row.fingerprint &&
      elapsed(earlier, call) <= within &&
      !isIgnoredRequest(earlier, settings),
  )
  return settings.ignore_fresh_starts === true ? repeatsOfOne(row, call, past, equal, settings) : equal
}

/** The rows back to the one that brought the last user message. */
const sinceUser = (row: Row, window: readonly Row[]): readonly Row[] => {
  if (hasNewUserMessage(row)) return []
  const end = window.findIndex(hasNewUserMessage)
  return end === -1 ? window : window.slice(0, end + 1)
}
