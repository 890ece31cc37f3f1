import type { Gateway } from 'guard-gateway/core'
import { costUnit } from '#lib/html'
import type { AgentSource, Charts, Panel } from '#lib/page'
import type { Figures } from '#lib/trace'

/** Charts of these figures. What draws them is loaded with the first. */
export const chartsOf = (gateway: Gateway, figures: Figures): Charts => ({
  strip: async (options) => {
    const { rows } = await gateway.storage.find('calls', { limit: 1 })
    if (rows.length === 0) return undefined
    const { strip } = await import('../chart/strip.ts')
    return strip(figures, costUnit(gateway), options)
  },
})

/** Requests over time. */
export const chartPanel = (charts: Charts): Panel => ({
  id: 'recorder/charts',
  order: -10,
  render: (ask) => charts.strip({ ask }),
})

/** Requests of an agent over time, if it has a session. */
export const agentCharts = (gateway: Gateway, charts: Charts): AgentSource => ({
  id: 'recorder/charts',
  order: -10,
  recent: async () => [],
  section: async (agent, ask) => {
    const { rows } = await gateway.storage.find('sessions', { where: { agent_id: agent }, limit: 1 })
    return rows.length === 0 ? undefined : charts.strip({ ask, agent_id: agent })
  },
})
