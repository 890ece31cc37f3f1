import { decisionMark, type Html, html } from 'guard-gateway/lib/html'
import type { Outcome } from '../scenario.ts'
import type { PlaygroundRun } from '../tables.ts'

/** The status of a run: by its expectations where it has ended. */
export const endMark = ({ status, matched }: Pick<PlaygroundRun, 'status' | 'matched'>): Html => {
  if (status === 'completed')
    return matched === true
      ? html`<span class="ok"><span aria-hidden="true">✓</span> as expected</span>`
      : html`<span class="error"><span aria-hidden="true">✕</span> not as expected</span>`
  if (status === 'failed') return html`<span class="error"><span aria-hidden="true">✕</span> failed</span>`
  return status === 'cancelled'
    ? html`<span class="quiet"><span aria-hidden="true">○</span> cancelled</span>`
    : html`<span class="running"><span aria-hidden="true">●</span> ${status}</span>`
}

/** What must come of a step. */
export const expectedMark = ({ decision, action, reason, forwarded, outcome }: Outcome): Html =>
  resultMark({
    decision: decision ?? null,
    action: action ?? null,
    reason: reason ?? null,
    forwarded: forwarded ?? null,
    outcome: outcome ?? null,
  })

/** What came of a step, or has to. */
interface ObservedOutcome {
  readonly decision: string | null
  readonly action: string | null
  readonly reason: string | null
  readonly forwarded: boolean | null
  readonly outcome: string | null
}

/** A step's end as words: the decision, its reason, and whether a call reached its server. */
export const resultMark = ({ decision, action, reason, forwarded, outcome }: ObservedOutcome): Html => {
  const word = decision ?? action
  return html`${word === null ? (outcome ?? html`<span class="quiet">any</span>`) : decisionMark(word)}${reason !== null && html` ${reason}`}${forwarded !== null && reason !== null && html` <span class="quiet">${forwarded ? 'forwarded' : 'not forwarded'}</span>`}`
}
