import { type Driver, storage } from 'guard-gateway/core'
import { memory } from 'guard-gateway/plugins/storage/memory'

/** Storage in memory that several gateways of one process share, as they would share a database. Each open gives the same rows. */
export const sharedMemory = () => {
  let opened: Promise<Driver> | undefined
  let locked: Promise<unknown> = Promise.resolve()
  return storage({
    id: 'shared-memory',
    open: async (tables) => {
      opened ??= memory().open(tables)
      const driver = await opened
      return {
        ...driver,
        capabilities: { search: 'tokens', shared: true },
        state: 'ok',
        // one lock for all rows: writes of others come between the reads of the holder, as they would elsewhere
        exclusive: async (_table, _key, work) => {
          const before = locked
          const { promise, resolve } = Promise.withResolvers<void>()
          locked = promise
          await before
          try {
            const [result, batch] = await work(driver)
            if (!(await driver.write(batch, { sync: false, hold: false }))) throw new Error('a condition failed')
            return result
          } finally {
            resolve()
          }
        },
        close: async () => {},
      }
    },
  })
}
