import { type Html, html } from '#lib/html'
import type { EventDecision } from '../read/decisions.ts'

const grave = new Map([
  ['block', 'error'],
  ['deny', 'error'],
  ['allow', 'quiet'],
])

/** CSS class of a decision. */
export const decisionClass = (decision: string): string => grave.get(decision) ?? 'warning'

/** A decision on one line. */
export const decisionLine = (event: EventDecision): Html => {
  const { decision, reason, rule, mode, reported } = event
  const rest = [reason, rule === '' ? '' : `rule ${rule}`, mode, reported ? 'as the client says' : ''].filter(
    (part) => part !== '',
  )
  return html`<strong class="${decisionClass(decision)}">${decision}</strong>${rest.map((part) => html` · ${part}`)}`
}
