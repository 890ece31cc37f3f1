import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Desk, ids, item } from './items.ts'

/** All or nothing, removals, exclusive work and refusals. */
export const batchTests = (desk: Desk): void => {
  const { put, get } = desk
  describe(`storage ${desk.id}: batches`, () => {
    it('writes all or nothing', async () => {
      await put('batch', 'old', { count: 1 })
      const first = { table: 'conformance_items', put: item('batch', 'new', { words: ['fresh'] }) } as const
      const note = { table: 'conformance_notes', put: { id: 'batch', text: 'x' } } as const
      const removal = { table: 'conformance_items', key: ['batch', 'old'], remove: true } as const
      for (const failing of [
        { table: 'conformance_items', key: ['batch', 'old'], patch: { count: 2 }, expected: { count: 9 } },
        { table: 'conformance_items', key: ['batch', 'none'], patch: { count: 2 } },
        { table: 'conformance_items', put: item('batch', 'old'), when: 'absent' },
      ] as const) {
        assert.equal(await desk.store.write([first, note, failing, removal]), false)
        assert.equal(await get('batch', 'new'), undefined)
        assert.equal(await desk.store.get('conformance_notes', 'batch'), undefined)
        assert.equal((await get('batch', 'old'))?.count, 1)
        assert.equal(ids(await desk.store.find('conformance_items', { search: ['fresh'] })), '')
      }
      assert.equal(await desk.store.write([first, note, removal]), true)
      assert.equal(await get('batch', 'old'), undefined)
      assert.deepEqual(await desk.store.get('conformance_notes', 'batch'), { id: 'batch', text: 'x' })
    })

    it('applies changes in order', async () => {
      const done = await desk.store.write([
        { table: 'conformance_items', put: item('order', 'a', { count: 1 }) },
        { table: 'conformance_items', key: ['order', 'a'], patch: { count: 2 }, expected: { count: 1 } },
        { table: 'conformance_items', key: ['order', 'a'], remove: true },
        { table: 'conformance_items', put: item('order', 'a', { count: 3 }), when: 'absent', sync: true },
      ])
      assert.equal(done, true)
      assert.equal((await get('order', 'a'))?.count, 3)
    })

    it('removing what is not there is no failure', async () =>
      assert.equal(await desk.store.write([{ table: 'conformance_notes', key: 'none', remove: true }]), true))

    it('keeps batches apart that are written at the same time', async () => {
      const results = await Promise.all(
        Array.from({ length: 60 }, (_, n) =>
          desk.store.write([
            { table: 'conformance_items', put: item('apart', `${n}a`, { count: n }) },
            { table: 'conformance_items', put: item('apart', n % 3 === 0 ? 'shared' : `${n}b`), when: 'absent' },
          ]),
        ),
      )
      assert.equal(results.filter(Boolean).length, 41)
      assert.equal(
        (await desk.store.find('conformance_items', { where: { group: 'apart' }, limit: 200 })).rows.length,
        82,
      )
    })
  })

  describe(`storage ${desk.id}: removing, exclusive work, refusals`, () => {
    it('removes up to a limit what passes the tests', async () => {
      for (let n = 0; n < 5; n++) await put('remove', String(n), { done: n !== 2, words: ['gone'] })
      assert.equal(await desk.store.remove('conformance_items', { group: 'remove', done: true }, 3), 3)
      assert.equal(await desk.store.remove('conformance_items', { group: 'remove', done: true }, 3), 1)
      assert.equal(await desk.store.remove('conformance_items', { group: 'remove', done: true }, 3), 0)
      assert.equal(ids(await desk.store.find('conformance_items', { where: { group: 'remove' } })), '2')
      if (desk.store.capabilities.search === 'tokens')
        assert.equal(ids(await desk.store.find('conformance_items', { search: ['gone'] })), '2')
    })

    it('lets one piece of exclusive work at a time see and change a row', async () => {
      await put('exclusive', 'a', { count: 0 })
      const add = () =>
        desk.store.exclusive('conformance_items', ['exclusive', 'a'], async (read) => {
          const count = ((await read.get('conformance_items', ['exclusive', 'a']))?.count ?? 0) + 1
          return [count, [{ table: 'conformance_items', key: ['exclusive', 'a'], patch: { count } }]] as const
        })
      const results = await Promise.all(Array.from({ length: 20 }, add))
      assert.deepEqual(
        results.sort((a, b) => a - b),
        Array.from({ length: 20 }, (_, n) => n + 1),
      )
    })

    it('writes nothing when exclusive work throws or meets a failed condition', async () => {
      await assert.rejects(
        desk.store.exclusive('conformance_items', ['exclusive', 'b'], () => Promise.reject(new Error('no'))),
        /no/,
      )
      const lost = desk.store.exclusive('conformance_items', ['exclusive', 'b'], async () => [
        1,
        [
          { table: 'conformance_items', put: item('exclusive', 'b') },
          { table: 'conformance_items', key: ['exclusive', 'none'], patch: { count: 1 } },
        ],
      ])
      await assert.rejects(lost, { code: 'STORAGE_BUSY' })
      assert.equal(await get('exclusive', 'b'), undefined)
    })

    it('refuses what it cannot serve', async () => {
      const unsupported = { code: 'FILTER_UNSUPPORTED' }
      await assert.rejects(desk.store.find('conformance_items', { order: ['ratio', 'asc'] }), unsupported)
      await assert.rejects(desk.store.find('conformance_notes', { search: ['x'] }), unsupported)
    })

    it('says how much it holds', async () => assert.ok((await desk.store.bytes()) > 0))
  })
}
