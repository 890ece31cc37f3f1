import type { Gateway, Plugin } from 'guard-gateway/core'
import { type RecorderOptions, settler } from './settle.ts'
import { tables } from './tables.ts'

export type { RecorderOptions } from './settle.ts'

/** First bytes of a reply that a preview may be taken from: of a stream, and of any other reply. */
const PREVIEW_HEADS = { stream: 1_000, whole: 262_144 }

/** Puts every guarded request on record before its reply ends, and shows the record: history and exports. */
export const recorder = (options: RecorderOptions = {}): Plugin => ({
  name: 'recorder',
  requires: ['sessions'],
  apply(gateway: Gateway) {
    for (const table of tables) gateway.tables.add(table)
    if (options.full_content_logging === true) gateway.heads = PREVIEW_HEADS
    const { record, end } = settler(gateway, options)
    gateway.hooks.settle.tapPromise('recorder', record)
    // before Replay, which these are told to as well
    gateway.hooks.close.tapPromise({ name: 'recorder', stage: -300 }, end)
    gateway.hooks.http.tapPromise('recorder', async (app) => {
      const [{ routes }, { addPanels }] = await Promise.all([import('./routes.ts'), import('./page/index.ts')])
      await app.register(routes(gateway), { prefix: '/api' })
      addPanels(gateway)
    })
  },
})
