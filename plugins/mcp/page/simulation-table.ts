import { decisionMark, type Html, html } from 'guard-gateway/lib/html'
import type { McpSimulation, SimulatedGroup } from '../simulate/simulation.ts'
import { nameMark, spanLink } from './marks.ts'

/** What a policy would have said of calls on record. */
export const simulationPart = ({
  calls,
  same,
  differ,
  stricter,
  looser,
  depends,
  changes,
  unknown,
}: McpSimulation): Html =>
  calls === 0
    ? html`<p class="quiet">No such call is on record.</p>`
    : html`<p>${calls} call${calls === 1 ? '' : 's'} on record: ${same} the same, <strong>${differ} would differ</strong> (${looser} looser, ${stricter} stricter), ${depends} depend on arguments that are not on record.</p>
${changes.length + unknown.length > 0 && table([...changes, ...unknown])}`

const MAX_SHOWN = 20

const table = (groups: readonly SimulatedGroup[]): Html =>
  html`<table class="list rows stacks"><thead><tr><th scope="col">Was</th><th scope="col">Would be</th><th scope="col">Calls</th><th scope="col">Let through then</th><th scope="col" class="free">Tool</th><th scope="col">Rules</th><th scope="col">Replay</th></tr></thead><tbody>
${groups.slice(0, MAX_SHOWN).map(groupRow)}</tbody></table>`

const groupRow = ({
  was,
  would_be,
  calls,
  forwarded,
  tool,
  server_id,
  rule_ids,
  examples: [first],
}: SimulatedGroup): Html =>
  html`<tr><td>${decisionMark(was)}</td><td>${would_be.map((action, at) => html`${at > 0 && ' or '}${decisionMark(action)}`)}</td><td>${calls}</td><td>${forwarded}</td><td>${nameMark(tool)} <span class="quiet">on ${server_id}</span></td><td>${rule_ids.join(', ')}</td><td>${first !== undefined && spanLink(first.trace_id, first.span_id, 'Show')}</td></tr>
`
