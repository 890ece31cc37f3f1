import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Desk, ids, item } from './items.ts'

/** What a storage still has when it was closed and is opened again. `reopen` does both. */
export const reopeningTests = (desk: Desk, reopen: () => Promise<void>): void => {
  const group = 'reopened'

  describe(`storage ${desk.id}: closing and opening again`, () => {
    it('keeps rows with every type, changes, sums and removals', async () => {
      const full = { name: 'n', count: 1, total: 2n ** 60n, ratio: 0.5, done: false, data: { deep: [1, 'ä', null] } }
      await desk.put(group, 'full', { ...full, words: ['reopenable'] })
      await desk.put(group, 'gone')
      await desk.store.patch('conformance_items', [group, 'full'], { done: true })
      await desk.store.write([{ table: 'conformance_items', key: [group, 'full'], add: { count: 4 } }])
      assert.equal(await desk.store.remove('conformance_items', { group, id: 'gone' }, 10), 1)
      await desk.put(group, 'later')
      await reopen()
      assert.deepEqual(await desk.get(group, 'full'), item(group, 'full', { ...full, done: true, count: 5 }))
      const order = { where: { group }, order: ['recorded', 'asc'] } as const
      assert.equal(ids(await desk.store.find('conformance_items', order)), 'fulllater')
      if (desk.store.capabilities.search === 'tokens')
        assert.equal(ids(await desk.store.find('conformance_items', { search: ['reopenable'] })), 'full')
    })
    it('goes on in the order of recording', async () => {
      await desk.put(group, 'newest')
      const order = { where: { group }, order: ['recorded', 'asc'] } as const
      assert.equal(ids(await desk.store.find('conformance_items', order)), 'fulllaternewest')
    })
  })
}
