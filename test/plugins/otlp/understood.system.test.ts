import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { databaseBytes, startReceiver } from './kit.ts'
import { understood } from './understood.ts'

const FOLDER = join(import.meta.dirname, '../../data/otlp-senders')
const EXPECTED = join(FOLDER, 'expected')
/** Is set to write what is understood instead of checking it; whoever does so reads the difference. */
const WRITES = process.env.GUARD_WRITE_EXPECTED === '1'

const names = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json') && file !== 'openai-agents.json')
  .map((file) => file.slice(0, -'.json'.length))

describe('recorded senders are understood', () => {
  for (const name of names)
    it(name, async () => {
      await using receiver = await startReceiver({ backend: 'sqlite' })
      const { sender, ...body } = JSON.parse(await readFile(join(FOLDER, `${name}.json`), 'utf8'))
      assert.ok(sender)
      assert.deepEqual(await receiver.taken(body), {})
      const runs = await understood(receiver)
      // where only metadata is kept, nothing that a person, a model or a tool said is on disk
      assert.equal(/CANARY\w{0,20}/i.exec(await databaseBytes(receiver))?.[0], undefined)
      const file = join(EXPECTED, `${name}.json`)
      if (WRITES) await writeFile(file, `${JSON.stringify(runs, null, 2)}\n`)
      assert.deepEqual(runs, JSON.parse(await readFile(file, 'utf8')))
    })

  // a file that was exported instead of sent is read by the same table
  for (const name of names)
    it(`${name}, imported`, async () => {
      await using receiver = await startReceiver()
      const file = await readFile(join(FOLDER, `${name}.json`), 'utf8')
      const { status, text } = await receiver.started.request('POST', '/api/v1/runs/import', JSON.parse(file))
      assert.equal(status, 201, text)
      const runs = await understood(receiver)
      assert.deepEqual(
        runs.toSorted(byRun),
        JSON.parse(await readFile(join(EXPECTED, `${name}.json`), 'utf8')).toSorted(byRun),
      )
    })
})

const byRun = (a: unknown, b: unknown): number => JSON.stringify(a).localeCompare(JSON.stringify(b))
