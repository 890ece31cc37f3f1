import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { appendFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { item, openPlain, startService, storageConforms } from 'guard-gateway/test'
import { journalIn } from '../../examples/custom-storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-journal-'))
after(() => rm(folder, { recursive: true, force: true }))

storageConforms(journalIn(join(folder, 'suite.jsonl')))

test('the next start has every row, and no half of a batch', async () => {
  const backend = journalIn(join(folder, 'again.jsonl'))
  const first = await openPlain(backend)
  await first.put('conformance_items', item('g', 'a', { total: 7n, data: { n: 1n } }))
  await first.put('conformance_items', item('g', 'b'))
  await first.patch('conformance_items', ['g', 'b'], { count: 2 })
  await first.put('conformance_items', item('h', 'c'))
  assert.equal(await first.remove('conformance_items', { group: 'h' }, 10), 1)
  await first.close()
  await appendFile(join(folder, 'again.jsonl'), '[{"kind":"put","ta')

  const second = await openPlain(backend)
  const { rows } = await second.find('conformance_items', { where: { group: 'g' }, order: ['recorded', 'asc'] })
  assert.deepEqual(
    rows.map(({ id, total, count }) => [id, total, count]),
    [
      ['a', 7n, null],
      ['b', null, 2],
    ],
  )
  assert.equal(await second.get('conformance_items', ['h', 'c']), undefined)
  await second.close()
})

test('a gateway keeps its sessions there', async () => {
  const plugins = [journalIn(join(folder, 'gateway.jsonl'))]
  const body = { model: 'm-1', messages: [{ role: 'user', content: 'Hello' }] }
  for (const requests of [1, 2]) {
    await using service = await startService({ plugins, backend: 'journal' })
    await service.request('POST', '/v1/chat/completions', body, { 'x-guard-session-id': 'mine' })
    assert.equal((await service.session('mine')).requests, requests)
  }
})
