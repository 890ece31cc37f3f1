import type { Gateway } from 'guard-gateway/core'
import { html } from 'guard-gateway/lib/html'
import type { AgentSource } from 'guard-gateway/lib/page'
import { runSummary } from 'guard-gateway/lib/trace-file'
import { findRuns } from '../api/find-runs.ts'
import { agentOf } from '../read/run-agent.ts'
import { firstSteps } from './first-steps.ts'
import { listTable } from './list-table.ts'
import { pinForm } from './pin-button.ts'

const RECENT_RUNS = 500
const SHOWN_RUNS = '10'

/** The runs of an agent, whoever recorded them. */
export const agentRuns = (gateway: Gateway): AgentSource => ({
  id: 'replay',
  order: 20,
  recent: async () => {
    const { rows } = await gateway.storage.find('runs', { limit: RECENT_RUNS })
    return [...new Set(rows.flatMap((run) => agentOf(run) ?? []))]
  },
  section: async (agent, ask) => {
    const { rows, next_cursor } = await findRuns(gateway.storage, { agent, limit: SHOWN_RUNS }, ask.now)
    if (rows.length === 0) return undefined
    const runs = rows.map(runSummary)
    const steps = await firstSteps(gateway.storage, rows)
    const page = { runs, next_cursor: null, truncated: false, steps }
    return html`<h2 id="runs">Runs</h2>${pinForm(ask.url)}<form id="compare" action="/replay/compare" autocomplete="off"></form>
${listTable(gateway, { ...ask, query: new URLSearchParams({ agent }) }, page)}
<div class="below"><button form="compare" data-key="c">Compare selected</button>${next_cursor !== null && html`<a href="/replay?agent=${encodeURIComponent(agent)}">All runs</a>`}</div>`
  },
})
