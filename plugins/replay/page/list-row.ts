import { type Html, html } from 'guard-gateway/lib/html'
import { shortId } from 'guard-gateway/lib/ids'
import type { RunSummary } from 'guard-gateway/lib/trace-file'
import { agentOf } from '../read/run-agent.ts'
import { urlOf } from '../run-address.ts'
import {
  agentLink,
  costMark,
  countMark,
  durationMark,
  middleEllipsis,
  runDuration,
  statusMark,
  tagMark,
  timeMark,
  titleOf,
} from './format.ts'
import { rowPinButton } from './pin-button.ts'

/** Context of a row. */
export interface RowContext {
  /** Milliseconds since 1970. */
  readonly now: number
  readonly step: string | undefined
}

export const listRow = (run: RunSummary, { now, step }: RowContext): Html => {
  const { trace_id, project_id, session_id } = run
  const agent = agentOf(run)
  const title = titleOf(run, step)
  const short = middleEllipsis(title)
  const took = runDuration(run, now)
  return html`<tr id="run-${trace_id}" data-row>
<td><input type="checkbox" name="run" value="${trace_id}" form="compare" aria-label="Compare ${short}"></td>
<td>${timeMark(run.recorded_ns, now)}</td>
<th scope="row">${rowPinButton(run, short)} <a href="${urlOf(trace_id)}"${title.length > 60 && html` title="${title}"`}><bdi>${short}</bdi></a>${run.origin === 'playground' && html` <em>Playground</em>`}</th>
<td>${agent !== null && agentLink(agent)}</td>
<td class="first-spare">${middleEllipsis(project_id, 22)}</td>
<td>${statusMark(run.status)}</td>
<td>${tagMark(run)}</td>
<td class="figure">${durationMark(took)}</td>
<td class="figure first-spare">${countMark(run.total_tokens)}</td>
<td class="figure">${costMark(run.cost_micro)}</td>
<td class="figure spare">${countMark(run.span_count)}</td>
<td class="spare">${session_id !== null && html`<a class="id" href="/replay?session_id=${encodeURIComponent(session_id)}">${shortId(session_id)}</a>`}</td>
</tr>`
}
