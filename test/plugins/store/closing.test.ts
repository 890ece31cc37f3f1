import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { item, openPlain } from '../../conformance/storage.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-closing-'))
after(() => rmSync(folder, { recursive: true }))

describe('store: closing', () => {
  for (const backend of [memory(), sqlite({ file: join(folder, 'closing.db') })]) {
    it(`of ${backend.id}: may be asked for twice, and what comes later is refused instead of waiting for ever`, async () => {
      const store = await openPlain(backend)
      const written = store.put('conformance_items', item('g', 'before'))
      await Promise.all([store.close(), store.close()])
      assert.equal(await written, true)
      await store.close()
      const late = [
        () => store.get('conformance_items', ['g', 'before']),
        () => store.find('conformance_items'),
        () => store.put('conformance_items', item('g', 'late')),
        () => store.write([{ table: 'conformance_items', put: item('g', 'late') }], { hold: true }),
        () => store.remove('conformance_items', {}, 1),
        () => store.bytes(),
      ]
      for (const ask of late) await assert.rejects(ask(), { code: 'STORAGE_UNAVAILABLE', message: /is closed/ })
    })
  }
})
