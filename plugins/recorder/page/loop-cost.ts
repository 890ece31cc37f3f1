import type { Gateway } from 'guard-gateway/core'
import { costHead, costUnit, countMark, type Html, html, pageUrl, priceMark } from 'guard-gateway/lib/html'
import type { Panel } from 'guard-gateway/lib/page'
import type { FlagReport, RuleReport } from 'guard-gateway/lib/trace'
import { readFlagReport } from '../flags/read-report.ts'
import { AT_MOST, blockedText, savedText } from '../flags/words.ts'

const WEEK_MS = 7 * 86_400_000
const MAX_RULES = 6
const MAX_PROJECTS = 3

/** What loops cost in the last seven days, by rule, and the way to stop it. */
export const loopCostPanel = (gateway: Gateway): Panel => ({
  id: 'recorder/loop-cost',
  order: 5,
  render: async ({ now }) => {
    const report = await readFlagReport(gateway.storage, { since: now - WEEK_MS, until: now + 1 })
    const rules = report.rules.filter(({ rule_id, requests_since_flag }) => rule_id !== null || requests_since_flag > 0)
    if (rules.length === 0) return undefined
    const { saved } = report
    const blocked = blockedText(report)
    return html`<h2 id="loop-cost">What loops cost</h2>
<p class="figures"><strong>${savedText(saved, costUnit(gateway), 'in the last 7 days')}</strong>${blocked !== '' && html` ${blocked}`}${saved.requests_since_flag > 0 && html` <span class="quiet">${AT_MOST}</span>`}</p>
${saved.requests_since_flag > 0 && switchLinks(report)}
${ruleTable(gateway, rules)}`
  },
})

/** In shadow: the page of each project that would save most, with its rules tried in enforce mode on what is stored. */
const switchLinks = ({ projects }: FlagReport): Html =>
  html`<p class="buttons">${projects.slice(0, MAX_PROJECTS).map(({ project_id }) => html`<a class="button" href="/policies/${encodeURIComponent(project_id)}?try=enforce">Enforce ${project_id}…</a> `)}<span class="quiet">First shows what its rules would have stopped, with possible false alarms; nothing changes before you save.</span></p>`

const ruleTable = (gateway: Gateway, rules: readonly RuleReport[]): Html =>
  html`<table class="list rows stacks"><thead><tr><th scope="col" class="free">Rule</th><th scope="col" class="figure">Sessions</th><th scope="col" class="figure">Flagged</th><th scope="col" class="figure">Blocked</th><th scope="col" class="figure">Requests since the flag</th><th scope="col" class="figure first-spare">Tokens</th><th scope="col" class="figure">${costHead(gateway)}</th></tr></thead><tbody>
${rules.slice(0, MAX_RULES).map((rule) => ruleRow(gateway, rule))}</tbody></table>
${rules.length > MAX_RULES && html`<p class="quiet">${rules.length - MAX_RULES} more rules: <code>${gateway.calledAs.here} report</code></p>`}`

const ruleRow = (gateway: Gateway, rule: RuleReport): Html => {
  const { rule_id, reason, action, sessions, flagged, blocked, blocked_retries } = rule
  const name = rule_id ?? reason ?? 'no rule'
  return html`<tr id="cost-${name}-${action}"><th scope="row">${rule_id === null ? name : html`<a href="${pageUrl('/sessions', { rule_id })}">${name}</a>`} <span class="quiet">${rule_id !== null && reason}${actionText(rule)}</span></th><td class="figure">${countMark(sessions)}<span class="unit"> sessions</span></td><td class="figure">${countMark(flagged)}<span class="unit"> flagged</span></td><td class="figure">${countMark(blocked + blocked_retries)}<span class="unit"> blocked</span></td><td class="figure">${countMark(rule.requests_since_flag)}<span class="unit"> requests since</span></td><td class="figure first-spare">${countMark(rule.tokens_since_flag)}<span class="unit"> tokens</span></td><td class="figure">${priceMark(rule.cost_since_flag_micro)}<span class="unit"> ${costUnit(gateway)}</span></td></tr>
`
}

/** What its rule does beside flagging, where that is not to block. */
const actionText = ({ action, would_refuse, blocked }: RuleReport): string => {
  if (action === 'pause') return ', pauses'
  return would_refuse || blocked > 0 ? '' : ', only flags: enforcing changes nothing'
}
