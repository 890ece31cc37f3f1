import type { Gateway } from 'guard-gateway/core'
import { panelKind, searchSourceKind } from 'guard-gateway/lib/page'
import { decisionsPanel } from './decisions.ts'
import { requestSource } from './search.ts'
import { spendPanel } from './spend.ts'
import { Traffic } from './traffic.ts'

/** Adds the panels of the start page, and what finds requests. */
export const addPanels = (gateway: Gateway): void => {
  const traffic = new Traffic()
  for (const panel of [decisionsPanel(gateway, traffic), spendPanel(gateway, traffic)])
    gateway.registry(panelKind).add(panel)
  gateway.registry(searchSourceKind).add(requestSource(gateway))
}
