import { type Gateway, type Plugin, stages } from 'guard-gateway/core'
import { catchUp } from './catch-up.ts'
import { LateTotals } from './late-totals.ts'
import { type RecorderOptions, settler } from './settle.ts'
import { tables } from './tables.ts'

export type { RecorderOptions } from './settle.ts'

/** First bytes of a reply that a preview may be taken from: of a stream, and of any other reply. */
const PREVIEW_BYTES = { stream: 1_000, whole: 262_144 }

/** Puts every guarded request on record before its reply ends, and shows the record: history and exports. */
export const recorder = (options: RecorderOptions = {}): Plugin => ({
  name: 'recorder',
  requires: ['sessions'],
  apply(gateway: Gateway) {
    for (const table of tables) gateway.tables.add(table)
    if (options.full_content_logging === true) gateway.service('previews').provide(PREVIEW_BYTES)
    const totals = new LateTotals(gateway)
    const { record, end } = settler(gateway, totals, options)
    gateway.hooks.open.tapPromise('recorder', async () => {
      await catchUp(gateway)
      totals.begin()
    })
    gateway.hooks.settle.tapPromise('recorder', record)
    // before Replay, which these are told to as well
    gateway.hooks.close.tapPromise({ name: 'recorder', stage: stages.close.recorder }, async () => {
      await end()
      await totals.end()
    })
    gateway.hooks.http.tapPromise('recorder', async (app) => {
      const [{ routes }, { addPanels }] = await Promise.all([import('./routes.ts'), import('./page/index.ts')])
      await app.register(routes(gateway), { prefix: '/api' })
      addPanels(gateway)
    })
  },
})
