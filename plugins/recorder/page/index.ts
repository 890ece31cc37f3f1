import type { Gateway } from 'guard-gateway/core'
import { agentSourceKind, panelKind, searchSourceKind, waitingSourceKind } from 'guard-gateway/lib/page'
import type { Figures } from 'guard-gateway/lib/trace'
import { agentCharts, chartPanel, chartsOf } from './charts.ts'
import { flaggedPanel } from './flagged.ts'
import { flaggedSource } from './flagged-lines.ts'
import { latestPanel } from './latest.ts'
import { loopCostPanel } from './loop-cost.ts'
import { requestSource } from './search.ts'
import { spendPanel } from './spend.ts'

/** Adds the panels of the start page and of agents, what of sessions waits for a person, and what finds requests. */
export const addPanels = (gateway: Gateway, figures: Figures): void => {
  const charts = chartsOf(gateway, figures)
  gateway.service('charts').provide(charts)
  for (const panel of [
    chartPanel(charts),
    loopCostPanel(gateway),
    flaggedPanel(gateway),
    spendPanel(gateway, figures),
    latestPanel(gateway),
  ])
    gateway.registry(panelKind).add(panel)
  gateway.registry(agentSourceKind).add(agentCharts(gateway, charts))
  gateway.registry(waitingSourceKind).add(flaggedSource(gateway))
  gateway.registry(searchSourceKind).add(requestSource(gateway))
}
