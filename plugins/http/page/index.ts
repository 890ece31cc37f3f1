import { panelKind } from 'guard-gateway/lib/page'
import type { HttpServerState } from '../http-server-state.ts'
import { firstStepsPanel } from './first-steps.ts'
import { inFlightPanel } from './in-flight.ts'

/** Adds the panels of this feature to the page Now. */
export const addPanels = (state: HttpServerState): void => {
  for (const panel of [firstStepsPanel(state), inFlightPanel(state)]) state.gateway.registry(panelKind).add(panel)
}
