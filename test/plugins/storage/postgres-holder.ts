import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { openPlain } from '../../conformance/storage.ts'

/** Holds a row of the database that is named on the command line until it is killed. */
const hold = async (url: string): Promise<void> => {
  const store = await openPlain(postgres({ url }))
  await store.exclusive('conformance_items', ['g', 'held'], async () => {
    process.send?.('held')
    return new Promise<never>(() => {})
  })
}

void hold(process.argv[2] ?? '')
