import type { HttpFace } from '../face.ts'
import { firstStepsPanel } from './first-steps.ts'
import { underWayPanel } from './under-way.ts'

/** Adds what this feature tells on the page of what is going on now. */
export const addPanels = (face: HttpFace): void => {
  for (const panel of [firstStepsPanel(face), underWayPanel(face)]) face.gateway.panels.add(panel)
}
