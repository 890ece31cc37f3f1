import { readFile } from 'node:fs/promises'
import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import { FileDelivery } from '../../../../plugins/otlp-push/audit-push.ts'

/** Appends three batches to the file it is given; no file of this process may have more than a few KiB. Prints what it said, counted and left. */
const [file = ''] = process.argv.slice(2)
const gateway = new Gateway().use(...foundation())
const delivery = new FileDelivery(gateway, file)
const said: string[] = []
gateway.hooks.fault.tap('test', (error) => void said.push((error as Error).message))
// without a retry: what cannot be written is given up at once
delivery.flush()
for (const letter of ['a', 'b', 'c']) {
  const line = `"${letter.repeat(letter === 'b' ? 3_000 : 500)}"\n`
  await delivery.deliver({ bytes: Buffer.from(line), count: 1 })
}
const lines = (await readFile(file, 'utf8')).split('\n').map((line) => line.slice(0, 2))
process.stdout.write(JSON.stringify({ lines, said, counts: delivery.counts }))
