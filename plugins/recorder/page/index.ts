import type { Gateway } from 'guard-gateway/core'
import { agentSourceKind, panelKind, searchSourceKind } from 'guard-gateway/lib/page'
import type { Figures } from 'guard-gateway/lib/trace'
import { agentCharts, chartPanel, chartsOf } from './charts.ts'
import { decisionsPanel } from './decisions.ts'
import { requestSource } from './search.ts'
import { spendPanel } from './spend.ts'
import { Traffic } from './traffic.ts'

/** Adds the panels of the start page and of agents, and what finds requests. */
export const addPanels = (gateway: Gateway, figures: Figures): void => {
  const charts = chartsOf(gateway, figures)
  gateway.service('charts').provide(charts)
  const traffic = new Traffic()
  for (const panel of [chartPanel(charts), decisionsPanel(gateway, traffic), spendPanel(gateway, traffic)])
    gateway.registry(panelKind).add(panel)
  gateway.registry(agentSourceKind).add(agentCharts(gateway, charts))
  gateway.registry(searchSourceKind).add(requestSource(gateway))
}
