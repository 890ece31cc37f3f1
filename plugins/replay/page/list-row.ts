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
  /** Longest and shortest run of the page, nanoseconds. */
  readonly longest_ns: bigint
  readonly shortest_ns: bigint
  readonly step: string | undefined
}

export const listRow = (run: RunSummary, context: RowContext): Html => {
  const { now, step } = context
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
<td>${middleEllipsis(project_id, 22)}</td>
<td>${statusMark(run.status)}</td>
<td>${tagMark(run)}</td>
<td class="figure">${durationMark(took)}</td>
<td class="share"><svg class="share" height="8" aria-hidden="true"><rect width="${share(took, context)}%" height="8"/></svg></td>
<td class="figure">${countMark(run.total_tokens)}</td>
<td class="figure">${costMark(run.cost_micro)}</td>
<td class="figure">${countMark(run.span_count)}</td>
<td>${session_id !== null && html`<a class="id" href="/replay?session_id=${encodeURIComponent(session_id)}">${shortId(session_id)}</a>`}</td>
</tr>`
}

/** Position between the shortest and the longest run of the page, on a logarithmic scale, in percent; at least visible. */
const share = (ns: bigint, { shortest_ns, longest_ns }: RowContext): number => {
  const above = Math.log(floored(ns) / floored(shortest_ns))
  const whole = Math.log(floored(longest_ns) / floored(shortest_ns))
  return whole === 0 ? 100 : Math.round(LEAST_SHARE + ((100 - LEAST_SHARE) * above) / whole)
}

const LEAST_SHARE = 8

/** Durations below 0.1 ms are equal. */
const floored = (ns: bigint): number => Math.max(100_000, Number(ns))
