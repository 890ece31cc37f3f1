import type { Gateway } from 'guard-gateway/core'
import { costHead, countMark, type Html, html, instantMark, priceMark } from 'guard-gateway/lib/html'
import { type FlaggedSession, type RuleTotal, type Simulation, simulate } from '../simulate/index.ts'
import type { PageParts } from './index.ts'
import type { PolicyPageState, SimulatedPolicy } from './view.ts'

const MAX_SESSIONS = 20

/** What the rules of a form would have done to the stored traffic of a project. */
export const simulationSection = async (
  { gateway, left }: PageParts,
  { project_id, now }: PolicyPageState,
  { mode, rules }: SimulatedPolicy,
  default_mode: Simulation['mode'],
): Promise<Html> => {
  const found = await simulate(gateway, left.budgets.calendar, { project_id, rules, mode: mode ?? default_mode })
  const { sessions, requests, truncated, flagged, not_simulated } = found
  if (sessions === 0)
    return html`<section class="tried" aria-label="Tried on stored traffic"><h2>Tried on stored traffic</h2><p>No request of this project is on record, so there is nothing to try the rules on.</p></section>`
  return html`<section class="tried" aria-label="Tried on stored traffic"><h2>Tried on stored traffic</h2>
<p>${countMark(sessions)} session${sessions !== 1 && 's'} with ${countMark(requests)} request${requests !== 1 && 's'}${truncated && html` <span class="quiet">the newest; there is more</span>`}. ${flagged.length === 0 ? `No rule would have spoken${not_simulated.length > 0 ? ' where it could be tried' : ''}.` : html`In ${countMark(flagged.length)} of them a rule would have ${found.mode === 'enforce' ? 'blocked or flagged' : 'flagged'} something.`}</p>
${not_simulated.map(({ message }) => html`<p class="warning">${message}</p>`)}
${flagged.length > 0 && html`${ruleTable(gateway, found)}${sessionTable(found, now)}`}</section>`
}

const ruleTable = (gateway: Gateway, { rules }: Simulation): Html =>
  html`<table class="list rows stacks"><thead><tr><th scope="col" class="free">Rule</th><th scope="col" class="figure">Sessions</th><th scope="col" class="figure">Share</th><th scope="col" class="figure">Requests after it</th><th scope="col" class="figure">Tokens after it</th><th scope="col" class="figure">${costHead(gateway, 'Cost after it')}</th><th scope="col">False positives?</th></tr></thead><tbody>
${rules.map(ruleLine)}</tbody></table>`

const ruleLine = (rule: RuleTotal): Html =>
  html`<tr><th scope="row">${rule.rule_id}${rule.rule_type !== rule.rule_id && html` <span class="quiet">${rule.rule_type}</span>`}</th><td class="figure">${countMark(rule.sessions)}<span class="unit"> sessions</span></td><td class="figure">${(rule.share * 100).toFixed(rule.share < 0.1 ? 1 : 0)} %</td><td class="figure">${countMark(rule.requests_after)}<span class="unit"> requests after</span></td><td class="figure">${countMark(rule.tokens_after)}<span class="unit"> tokens after</span></td><td class="figure">${priceMark(rule.cost_after_micro)}<span class="unit"> cost after</span></td><td>${rule.differing_results > 0 && html`<span class="warning">${rule.differing_results} had differing results</span>`}${rule.unseen_sessions > 0 && html` <span class="warning">not tried on all of ${rule.unseen_sessions} sessions</span>`}</td></tr>
`

const sessionTable = ({ flagged }: Simulation, now: number): Html =>
  html`<details><summary>The sessions${flagged.length > MAX_SESSIONS && `, ${MAX_SESSIONS} of ${flagged.length}`}</summary><table class="list rows stacks"><thead><tr><th scope="col">Time</th><th scope="col">Session</th><th scope="col">Would be</th><th scope="col" class="figure">At request</th><th scope="col">Rule</th><th scope="col" class="free">Evidence</th><th scope="col" class="figure">Tokens after it</th></tr></thead><tbody>
${flagged.slice(0, MAX_SESSIONS).map((session) => sessionLine(session, now))}</tbody></table></details>`

const sessionLine = (session: FlaggedSession, now: number): Html => {
  const { session_id, decision, at, step, rule_id, message, tokens_after, results_equal } = session
  return html`<tr><td>${instantMark(at, now)}</td><td><a href="/sessions/${session_id}"><code>${session_id.slice(0, 12)}…</code></a></td><td>${decision === 'block' ? 'blocked' : 'flagged'}</td><td class="figure">${step}</td><td>${rule_id}</td><td>${message}${results_equal === false && html` <span class="warning">The results differed.</span>`}</td><td class="figure">${countMark(tokens_after)}<span class="unit"> tokens after</span></td></tr>
`
}
