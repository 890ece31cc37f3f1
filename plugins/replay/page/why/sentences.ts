import type { Gateway } from 'guard-gateway/core'
import { costText, countText } from 'guard-gateway/lib/format'
import { costUnit } from 'guard-gateway/lib/html'
import type { Trace } from 'guard-gateway/lib/trace'
import type { Why } from '../../read/why.ts'

/** What came from a flagged request on, and what the rule would have saved or has. */
export const flaggedSentence = (gateway: Gateway, why: Why): string =>
  why.decision?.decision === 'shadow_flag'
    ? `${fromHereOn(gateway, why)}${wouldHave(why)}`
    : `${stopped(why)}${blockedRest(why)}`

const fromHereOn = (gateway: Gateway, { after }: Why): string => {
  const { requests, all_requests, tokens, cost_micro, all_cost_micro } = after
  if (requests === 0) return 'No request came after it. '
  const parts = [
    `${countText(requests)} of ${countText(all_requests)} requests`,
    ...(all_cost_micro > 0n ? [`${costText(cost_micro)} of ${costText(all_cost_micro)} ${costUnit(gateway)}`] : []),
    ...(tokens > 0n ? [`${countText(tokens)} tokens`] : []),
  ]
  return `${listed(parts)} came from here on. `
}

/** `a`, `a and b`, `a, b and c`. */
const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? (parts[0] ?? '') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`

const refusing: ReadonlySet<string> = new Set(['block', 'pause'])

const wouldHave = ({ decision, match }: Why): string => {
  const action = match?.action ?? 'block'
  if (decision?.mode !== 'shadow') return 'It was flagged and forwarded.'
  return refusing.has(action) ? 'Enforced, it would have ended here.' : 'Its rule flags and does not block.'
}

const words = new Map([
  ['block', 'It was blocked: nothing was forwarded.'],
  ['deny', 'The call was denied.'],
  ['confirm', 'The call waited for a person.'],
  ['shadow_deny', 'Enforced, the call would have been denied.'],
])

const stopped = ({ decision }: Why): string => words.get(decision?.decision ?? '') ?? ''

const blockedRest = ({ retries, after, decision }: Why): string => {
  if (retries > 0) return ` ${countText(retries)} identical ${retries === 1 ? 'attempt' : 'attempts'} followed.`
  const more = after.requests - 1
  if (decision?.decision !== 'block' || more < 1) return ''
  return ` ${countText(more)} of ${countText(after.all_requests)} requests came after it.`
}

/** What came after a failed step. */
export const afterSentence = ({ span }: Why, { spans }: Trace): string => {
  const end = span.end_ns ?? span.start_ns
  const later = spans.reduce((count, { start_ns, depth }) => count + (depth > 0 && start_ns >= end ? 1 : 0), 0)
  if (later === 0) return 'Nothing came after it. '
  return `${countText(later)} ${later === 1 ? 'step' : 'steps'} came after it. `
}
