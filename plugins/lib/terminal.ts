import { type BudgetLeft, remainingShare, remainingText } from '#lib/budget'
import type { Input, Io } from '#lib/command'
import { countMark, type Html, html, instantMark, priceMark } from '#lib/html'
import { displayWidth } from './terminal/display-width.ts'

export { openInBrowser, showInBrowser } from './terminal/browser.ts'

export { showsColours } from './terminal/colours.ts'
export { columnLines, terminalWidth, verdictSymbols, writesUnicode } from './terminal/columns.ts'
export { cutToWidth, displayWidth, padToWidth } from './terminal/display-width.ts'

export { outputOf } from './terminal/output.ts'
export { type Colour, colourOf, paintedWord, painter } from './terminal/painter.ts'
export { type ListedSession, sessionLines, stateField, stateToken } from './terminal/session-table.ts'
export { listedId, wholeId } from './terminal/short-id.ts'
export { agoText, listedTime } from './terminal/time-ago.ts'

/** Prints a line that helps and is no result, for people who read along; `--quiet` hides it. */
export const hint = (text: string, { options }: Pick<Input, 'options'>, { err }: Pick<Io, 'err'>): void => {
  if (options.quiet !== true) err.write(`${text}\n`)
}

/** A line broken between words into lines of at most `width` columns. What continues it is indented by `hang`; by two more than the line itself if absent. A word that is wider stays whole. */
export const wrapLine = (line: string, width: number, hang?: number): readonly string[] => {
  if (displayWidth(line) <= width) return [line]
  const [own = ''] = /^ */.exec(line) ?? []
  const indent = ' '.repeat(Math.min(hang ?? own.length + 2, Math.floor(width / 2)))
  const lines = [own]
  let used = own.length
  for (const [, gap = '', word = ''] of line.slice(own.length).matchAll(/( *)([^ ]+)/g)) {
    const wide = gap.length + displayWidth(word)
    const isFirst = lines.length === 1 && used === own.length
    if (isFirst || used + wide <= width) {
      lines.push(`${lines.pop()}${gap}${word}`)
      used += wide
    } else {
      lines.push(indent + word)
      used = indent.length + wide - gap.length
    }
  }
  return lines
}

/** As `wrapLine`, for text of several lines. */
export const wrapText = (text: string, width: number): string =>
  text
    .split('\n')
    .flatMap((line) => wrapLine(line, width))
    .join('\n')

/** So much of a budget must be used that it counts as nearly used up. */
const NEAR = 0.8

/** Budgets as a table: whose each is, what is left of it, and when it starts over. `now`: milliseconds since 1970. */
export const budgetTable = (budgets: readonly BudgetLeft[], now: number): Html =>
  html`<table class="list rows stacks"><thead><tr><th scope="col" class="free">Budget of</th><th scope="col">Rule</th><th scope="col">Used</th><th scope="col">Left</th><th scope="col">Begins anew</th></tr></thead><tbody>
${budgets.map((budget) => budgetRow(budget, now))}</tbody></table>
${zoneText(budgets)}`

const zoneText = (budgets: readonly BudgetLeft[]): Html => {
  const zone = budgets.find(({ time_zone }) => time_zone !== null)?.time_zone
  return html`${zone !== undefined && html`<p class="quiet">Days and other periods are those of ${zone}.</p>`}`
}

const budgetRow = (budget: BudgetLeft, now: number): Html => {
  const { project_id, rule_id, limit, used, resets_at, action } = budget
  const text = remainingText(budget)
  const rule = `/policies/${encodeURIComponent(project_id)}#rule-${rule_id}`
  const colour = remainingShare(budget) === 0 ? 'error' : remainingShare(budget) <= 1 - NEAR ? 'warning' : ''
  return html`<tr data-row><th scope="row">${ownerText(budget)}</th><td><a href="${rule}">${rule_id}</a> <span class="quiet">${action}</span></td>
<td><span class="status">${amountOf(budget, used)} <span class="quiet">of ${amountOf(budget, limit)}${unitText(budget)}</span> <meter max="${limit}" high="${limit * NEAR}" optimum="0" value="${Math.min(used, limit)}" aria-label="used of ${rule_id}"></meter></span></td>
<td><span class="${colour}">${text}</span></td><td>${resets_at !== null && instantMark(Date.parse(resets_at), now)}</td></tr>
`
}

const ownerText = ({ scope, project_id, agent_id, session_id }: BudgetLeft): Html => {
  if (scope === 'project') return html`project ${project_id}`
  if (scope !== 'agent') return html`${scope === 'thread' ? 'conversation of the session' : 'session'} ${session_id}`
  return agent_id === null
    ? html`requests without an agent <span class="quiet">in ${project_id}</span>`
    : html`agent ${agent_id} <span class="quiet">in ${project_id}</span>`
}

const amountOf = ({ unit }: BudgetLeft, amount: number): Html =>
  unit === 'cost_micro' ? priceMark(amount) : countMark(amount)

const unitText = ({ unit, currency }: BudgetLeft): string => ` ${unit === 'cost_micro' ? (currency ?? 'cost') : unit}`
