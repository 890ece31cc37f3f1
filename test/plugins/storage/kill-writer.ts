import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { item, openPlain } from '../../conformance/storage.ts'

// Run as a child that is killed: writes pairs of rows from eight writers at once and prints each number once its pair is acknowledged.
const [file = '', first = '0', how = ''] = process.argv.slice(2)
const options = how === 'early' ? { onRefused: () => process.exit(1) } : {}
const store = await openPlain(sqlite({ file }))
let next = Number(first)

const writer = async (): Promise<void> => {
  for (;;) {
    const n = next++
    const put = item('kill', String(n), { count: n, words: [`w${n}`], name: `name ${n}` })
    await store.write(
      [
        { table: 'conformance_items', put, when: 'absent' },
        { table: 'conformance_items', key: ['sums', String(n % 3)], add: { count: n } },
        { table: 'conformance_notes', put: { id: String(n), text: 'x'.repeat(n % 3_000) } },
      ],
      options,
    )
    process.stdout.write(`${n}\n`)
  }
}
await Promise.all(Array.from({ length: 8 }, writer))
