import type { TraceEvent } from '#lib/trace'

/** The decision of an event. */
export interface EventDecision {
  readonly decision: string
  /** Empty if there is none. */
  readonly reason: string
  readonly rule: string
  readonly mode: string
  /** A client says so; the gateway did not decide it. */
  readonly reported: boolean
}

/** The decision of an event; undefined for other events. */
export const decisionIn = ({ name, attributes, owner }: TraceEvent): EventDecision | undefined => {
  const decision = attributes.decision ?? attributes.action
  if (name !== 'policy.decision' || typeof decision !== 'string') return undefined
  const word = (key: string): string => {
    const value = attributes[key]
    return typeof value === 'string' ? value : ''
  }
  return {
    decision,
    reason: word('reason_code'),
    rule: word('rule_id'),
    mode: word('mode'),
    reported: owner === 'client',
  }
}

/** The most important decision of a span's events; undefined if allowed. */
export const standingDecision = (events: readonly TraceEvent[]): string | undefined => {
  for (const event of events) {
    const found = decisionIn(event)
    if (found !== undefined && found.decision !== 'allow') return found.decision
  }
  return undefined
}
