import type { Gateway } from 'guard-gateway/core'
import { costHead, type Html, html } from 'guard-gateway/lib/html'
import type { Ask } from 'guard-gateway/lib/page'
import { runSummary } from 'guard-gateway/lib/trace-file'
import { runById } from '../read/run.ts'
import { urlOf } from '../run-address.ts'
import { firstSteps, unnamedTitle } from './first-steps.ts'
import {
  costMark,
  countMark,
  durationMark,
  middleEllipsis,
  runDuration,
  statusMark,
  timeMark,
  titleOf,
} from './format.ts'
import { linked } from './links.ts'

const MAX_CHOICES = 50

/** Page to choose the other run among those of the project. Without a run, it explains how to choose two. Throws RUN_NOT_FOUND. */
export const chooseRun = async (
  gateway: Gateway,
  ask: Ask,
  chosen: string | undefined,
  isLeft: boolean,
): Promise<Html> => {
  if (chosen === undefined)
    return html`<h1>Compare</h1><p class="empty">No run is chosen. Mark two in <a href="/replay">the list of runs</a>.</p>`
  const { storage } = gateway
  const run = await runById(storage, chosen)
  const where = { project_id: run.project_id }
  const { rows, next_cursor } = await storage.find('runs', { where, limit: MAX_CHOICES + 1 })
  const others = rows.filter(({ trace_id }) => trace_id !== chosen).slice(0, MAX_CHOICES)
  const [steps, own] = await Promise.all([
    firstSteps(storage, others),
    run.name === null ? unnamedTitle(storage, run) : undefined,
  ])
  const link = (trace_id: string) =>
    linked('/replay/compare', ask.query, {
      run: null,
      left: isLeft ? chosen : trace_id,
      right: isLeft ? trace_id : chosen,
    })
  return html`<h1>Compare</h1>
<p>Compare <a href="${urlOf(chosen)}">${titleOf(run, own)}</a> with a run of project ${run.project_id}:</p>
${
  others.length === 0
    ? html`<p class="empty">It is the only run of its project.</p>`
    : html`<table class="list stacks"><thead><tr><th scope="col">Time</th><th scope="col" class="free">Run</th><th scope="col">Status</th><th scope="col" class="figure">Duration</th><th scope="col" class="figure">Tokens</th><th scope="col" class="figure">${costHead(gateway)}</th></tr></thead><tbody>
${others
  .map(runSummary)
  .map(
    (other) =>
      html`<tr id="run-${other.trace_id}" data-row><td>${timeMark(other.recorded_ns, ask.now)}</td><th scope="row"><a href="${link(other.trace_id)}"><bdi>${middleEllipsis(titleOf(other, steps.get(other.trace_id)))}</bdi></a> <span class="quiet"><bdi>${other.agent_name}</bdi></span></th><td>${statusMark(other.status)}</td><td class="figure">${durationMark(runDuration(other, ask.now))}</td><td class="figure">${countMark(other.total_tokens)}</td><td class="figure">${costMark(other.cost_micro)}</td></tr>`,
  )}</tbody></table>
${next_cursor !== null && html`<p class="quiet">The newest ${MAX_CHOICES}; two of any age can be marked in <a href="/replay?project_id=${encodeURIComponent(run.project_id)}">the list of runs</a>.</p>`}`
}`
}
