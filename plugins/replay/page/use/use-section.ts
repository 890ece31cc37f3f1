import type { Gateway } from 'guard-gateway/core'
import { type Html, html } from 'guard-gateway/lib/html'
import type { AgentSource, SessionSource } from 'guard-gateway/lib/page'
import type { RawQuery } from '../../api/filters.ts'
import { findRuns } from '../../api/find-runs.ts'
import type { RecentUses } from '../../read/recent-use.ts'
import { useTable } from './use-table.ts'

const MAX_RUNS = '50'

/** Calls by model, tool and command over the newest runs of an agent. */
export const agentUse = (gateway: Gateway, uses: RecentUses): AgentSource => ({
  id: 'replay/use',
  order: 15,
  recent: async () => [],
  section: (agent, { now }) => useSection(gateway, uses, { agent }, now),
})

/** The same of a session. */
export const sessionUse = (gateway: Gateway, uses: RecentUses): SessionSource => ({
  id: 'replay/use',
  order: 10,
  section: (session_id, { now }) => useSection(gateway, uses, { session_id }, now),
})

const useSection = async (
  gateway: Gateway,
  uses: RecentUses,
  filter: RawQuery,
  now: number,
): Promise<Html | undefined> => {
  const found = await findRuns(gateway.storage, { ...filter, limit: MAX_RUNS }, now)
  if (found.rows.length === 0) return undefined
  const recent = await uses.of(found.rows)
  const heading = html`<h2 id="use">Models and tools</h2>`
  if (recent.runs === 0)
    return html`${heading}<p class="quiet">The newest run is too long to be summed here; its own page has the table.</p>`
  const table = useTable(gateway, recent.uses)
  if (table === undefined) return undefined
  const isCut = recent.runs < found.rows.length || found.next_cursor !== null
  return html`${heading}${table}${isCut && html`<p class="quiet">Of the newest ${recent.runs === 1 ? 'run' : `${recent.runs} runs`}.</p>`}`
}
