import type { Gateway } from 'guard-gateway/core'
import { countMark, decisionMark, html, instantMark } from 'guard-gateway/lib/html'
import type { Panel } from 'guard-gateway/lib/page'
import { isPlayground } from 'guard-gateway/lib/trace'
import { replayLink, sessionLink } from './links.ts'

const MAX_LATEST = 5
/** Requests of the Playground between the others are passed over. */
const MAX_READ = 50

/** The latest requests. */
export const latestPanel = (gateway: Gateway): Panel => ({
  id: 'recorder/latest',
  order: 40,
  render: async (ask) => {
    const { rows } = await gateway.storage.find('calls', { limit: MAX_READ })
    const calls = rows.filter((call) => !isPlayground(call)).slice(0, MAX_LATEST)
    if (calls.length === 0) return undefined
    return html`<h2>Latest requests</h2>
<table class="list rows stacks"><thead><tr><th scope="col">Time</th><th scope="col">Decision</th><th scope="col" class="free">Model</th><th scope="col">Session</th><th scope="col" class="first-spare">Project</th><th scope="col">Outcome</th><th scope="col" class="figure">Tokens</th><th scope="col">Replay</th></tr></thead><tbody>
${calls.map((call) => {
  const { id, received_at, decision, model_requested, session_id, project_id, outcome, total_tokens } = call
  return html`<tr id="call-${id}" data-row><td>${instantMark(received_at, ask.now)}</td><td>${decisionMark(decision)}</td><th scope="row">${model_requested}</th><td>${session_id !== null && sessionLink(session_id)}</td><td class="first-spare">${project_id}</td><td>${outcome}</td><td class="figure">${countMark(total_tokens)}<span class="unit"> tokens</span></td><td>${replayLink(call, 'Show')}</td></tr>
`
})}</tbody></table>`
  },
})
