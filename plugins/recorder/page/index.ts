import type { Gateway } from 'guard-gateway/core'
import { decisionsPanel } from './decisions.ts'
import { spendPanel } from './spend.ts'

/** Adds what this feature tells on the page of what is going on now. */
export const addPanels = (gateway: Gateway): void => {
  for (const panel of [decisionsPanel(gateway), spendPanel(gateway)]) gateway.panels.add(panel)
}
