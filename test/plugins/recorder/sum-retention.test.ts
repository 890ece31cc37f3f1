import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { hourOf } from '../../../plugins/recorder/figures/hours.ts'
import { removeOldSums } from '../../../plugins/recorder/index.ts'
import { fakeClock } from '../../kit/clock.ts'
import { aCall, settled } from '../../kit/settled.ts'
import { type Bench, startBench } from './kit.ts'

const DAY_MS = 86_400_000
const folder = mkdtempSync(join(tmpdir(), 'guard-sums-'))
after(() => rmSync(folder, { recursive: true }))

/** Adds sums of hours that lie so many days back. */
const addSums = async ({ gateway }: Bench, ...days: readonly number[]): Promise<void> => {
  const hours = days.map((count) => hourOf(gateway.clock.now() - count * DAY_MS))
  await gateway.storage.write(
    hours.flatMap((hour) => [
      { table: 'calls_by_hour', key: [hour, 'web', '', 'messages', 'm', '', 'allow', ''], add: { requests: 1 } },
      { table: 'flags_by_hour', key: [hour, 'web', 'ses_a', 'rule', 'LOOP_EXACT', 'block'], add: { flagged: 1 } },
    ]),
  )
}

const hoursIn = async ({ gateway }: Bench, table: 'calls_by_hour' | 'flags_by_hour'): Promise<readonly string[]> => {
  const { rows } = await gateway.storage.find(table, { limit: 200, order: ['hour', 'asc'] })
  return rows.map(({ hour }) => hour)
}

for (const backend of ['memory', 'sqlite'] as const)
  test(`sums go after 400 days, in ${backend}`, async () => {
    const file = join(folder, 'sums.db')
    const clock = fakeClock()
    const bench = await startBench({ clock, ...(backend === 'sqlite' ? { backend: sqlite({ file }) } : {}) })
    await addSums(bench, 900, 401, 399, 0)
    const kept = [399, 0].map((days) => hourOf(clock.now() - days * DAY_MS))
    assert.equal(await removeOldSums(bench.gateway), 4)
    assert.equal(await removeOldSums(bench.gateway), 0)
    for (const table of ['calls_by_hour', 'flags_by_hour'] as const) assert.deepEqual(await hoursIn(bench, table), kept)
    await bench.close()
  })

test('sums stay as long as calls that they count are on record, and many go in steps', async () => {
  const clock = fakeClock()
  const bench = await startBench({ clock })
  await addSums(bench, ...Array.from({ length: 600 }, (_, at) => 1_000 - at * 1.2))
  await bench.settle(settled({ call: aCall({ at: clock.now() - 800 * DAY_MS }) }))
  assert.ok((await removeOldSums(bench.gateway)) > 0)
  const [first = ''] = await hoursIn(bench, 'calls_by_hour')
  assert.ok(first >= hourOf(clock.now() - 800 * DAY_MS), first)
  const { id } = (await bench.gateway.storage.find('calls', { limit: 1 })).rows[0] ?? { id: '' }
  await bench.gateway.storage.write([{ table: 'calls', key: [id], remove: true }])
  await removeOldSums(bench.gateway)
  const [next = ''] = await hoursIn(bench, 'calls_by_hour')
  assert.ok(next >= hourOf(clock.now() - 400 * DAY_MS), next)
  await bench.close()
})
