import type { Gateway } from 'guard-gateway/core'
import { costHead, type Html, html } from 'guard-gateway/lib/html'
import type { Ask } from 'guard-gateway/lib/page'
import { runSummary } from 'guard-gateway/lib/trace-file'
import { runById } from '../../read/run.ts'
import { urlOf } from '../../run-address.ts'
import type { RunRow } from '../../tables.ts'
import { firstSteps, unnamedTitle } from '../first-steps.ts'
import {
  costMark,
  countMark,
  durationMark,
  middleEllipsis,
  runDuration,
  statusMark,
  timeMark,
  titleOf,
} from '../format.ts'
import { linked } from '../links.ts'
import { isSameTask, MAX_CHOICES, runsToCompare } from './candidates.ts'

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
  const words = ask.query.get('q')?.trim() ?? ''
  const { rows: others, more } = await runsToCompare(storage, run, words)
  const [steps, own] = await Promise.all([
    firstSteps(storage, others),
    run.name === null ? unnamedTitle(storage, run) : undefined,
  ])
  const isSame = (other: RunRow) => isSameTask(run, other)
  const link = (trace_id: string) =>
    linked('/replay/compare', ask.query, {
      run: null,
      q: null,
      left: isLeft ? chosen : trace_id,
      right: isLeft ? trace_id : chosen,
    })
  const side = isLeft ? 'left' : 'right'
  return html`<h1>Compare</h1>
<p>Compare <a href="${urlOf(chosen)}">${titleOf(run, own)}</a> with a run of project ${run.project_id}:</p>
<form class="filters" action="/replay/compare" role="search"><input type="hidden" name="${side}" value="${chosen}"><label>Find runs<input type="search" name="q" value="${words}" size="32" placeholder="name, task, model, word, id"></label><button>Find</button>${words !== '' && html` <a class="clear" href="${linked('/replay/compare', ask.query, { q: null })}">Clear</a>`}</form>
${
  others.length === 0
    ? html`<p class="empty">${words === '' ? 'It is the only run of its project.' : 'No other run of the project has these words.'}</p>`
    : html`<table class="list stacks"><thead><tr><th scope="col">Time</th><th scope="col" class="free">Run</th><th scope="col">Status</th><th scope="col" class="figure">Duration</th><th scope="col" class="figure">Tokens</th><th scope="col" class="figure">${costHead(gateway)}</th></tr></thead><tbody>
${others.map((row) => {
  const other = runSummary(row)
  return html`<tr id="run-${other.trace_id}" data-row><td>${timeMark(other.recorded_ns, ask.now)}</td><th scope="row"><a href="${link(other.trace_id)}"><bdi>${middleEllipsis(titleOf(other, steps.get(other.trace_id)))}</bdi></a> <span class="quiet"><bdi>${other.agent_name}</bdi>${isSame(row) && ' same task'}</span></th><td>${statusMark(other.status)}</td><td class="figure">${durationMark(runDuration(other, ask.now))}</td><td class="figure">${countMark(other.total_tokens)}</td><td class="figure">${costMark(other.cost_micro)}</td></tr>`
})}</tbody></table>
${more && html`<p class="quiet">Those of the same task, then the newest, ${MAX_CHOICES} in all; find others above, or mark two of any age in <a href="/replay?project_id=${encodeURIComponent(run.project_id)}">the list of runs</a>.</p>`}`
}`
}
