import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { item, openPlain } from '../../conformance/storage.ts'

// Run as a child: waits for a line, opens the file, and prints `refused <code> <message>`, or `open` and then the number of each row that is acknowledged.
const [file = '', name = ''] = process.argv.slice(2)
process.stdout.write('ready\n')
await new Promise((resolve) => process.stdin.once('data', resolve))
process.stdin.unref()
try {
  const store = await openPlain(sqlite({ file }))
  process.stdout.write('open\n')
  const early = { onRefused: () => process.exit(1) }
  for (let n = 0; ; n++) {
    const put = item('second', `${name}-${n}`, { count: n })
    await store.write([{ table: 'conformance_items', put, when: 'absent' }], early)
    process.stdout.write(`${name}-${n}\n`)
  }
} catch (error) {
  const { code, message } = error as Error & { code: string }
  process.stdout.write(`refused ${code} ${message}\n`)
}
