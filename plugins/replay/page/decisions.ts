import { type Html, html, type TraceEvent } from 'guard-gateway/core'

/** A decision as an event tells it. */
export interface Told {
  readonly decision: string
  /** Empty if there is none. */
  readonly reason: string
  readonly rule: string
  readonly mode: string
  /** A client says so; the gateway did not decide it. */
  readonly reported: boolean
}

/** What an event says was decided; undefined for other events. */
export const toldBy = ({ name, attributes, owner }: TraceEvent): Told | undefined => {
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

const grave: Readonly<Record<string, string>> = { block: 'error', deny: 'error', allow: 'quiet' }

/** The colour class of a decision. */
export const decisionClass = (decision: string): string => grave[decision] ?? 'warning'

/** The word of the decision that stands on the bar of a span with these events: none for what was allowed. */
export const standing = (events: readonly TraceEvent[]): string | undefined => {
  for (const event of events) {
    const told = toldBy(event)
    if (told !== undefined && told.decision !== 'allow') return told.decision
  }
  return undefined
}

/** A decision as one line. */
export const decisionLine = (told: Told): Html => {
  const { decision, reason, rule, mode, reported } = told
  const rest = [reason, rule === '' ? '' : `rule ${rule}`, mode, reported ? 'as the client says' : ''].filter(
    (part) => part !== '',
  )
  return html`<strong class="${decisionClass(decision)}">${decision}</strong>${rest.map((part) => html` · ${part}`)}`
}
