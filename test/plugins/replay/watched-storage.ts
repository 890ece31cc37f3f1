import { type Driver, storage } from 'guard-gateway/core'
import { memory } from 'guard-gateway/plugins/storage/memory'

/** A memory storage with counters. */
export const watched = () => {
  const seen = { finds: 0, largestPage: 0, largestBatch: 0, beforeWrite: async () => {} }
  const inner = memory()
  const plugin = storage({
    id: 'watched',
    open: async (tables) => {
      const driver = await inner.open(tables)
      const find: Driver['find'] = async (table, query) => {
        const page = await driver.find(table, query)
        seen.finds++
        seen.largestPage = Math.max(seen.largestPage, page.rows.length)
        return page
      }
      const write: Driver['write'] = async (batch, options) => {
        if (batch.some(({ kind, table }) => kind === 'put' && table.id === 'spans')) await seen.beforeWrite()
        seen.largestBatch = Math.max(seen.largestBatch, batch.length)
        return driver.write(batch, options)
      }
      return { ...driver, find, write }
    },
  })
  return { seen, plugin }
}
