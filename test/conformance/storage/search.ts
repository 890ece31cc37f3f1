import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Desk, ids } from './items.ts'

/** Token search, and that it follows every change. */
export const searchTests = (desk: Desk): void => {
  const { put } = desk
  describe(`storage ${desk.id}: search`, () => {
    it('finds rows that hold every token, and beginnings of tokens', async (t) => {
      if (desk.store.capabilities.search === 'none') return t.skip('this backend has no search')
      const search = async (...tokens: string[]) =>
        ids(await desk.store.find('conformance_items', { where: { group: 'search' }, search: tokens }))
      await put('search', 'a', { words: ['alpha', 'beta', 'read_file', '_tag_6f'] })
      await put('search', 'b', { words: ['beta', 'größe', '数据'], count: 4 })
      await put('search', 'c', { words: [] })
      assert.equal(await search('beta'), 'ba')
      assert.equal(await search('beta', 'alpha'), 'a')
      assert.equal(await search('al*', 'b*'), 'a')
      assert.equal(await search('read*'), 'a')
      assert.equal(await search('read'), '')
      assert.equal(await search('_tag_6f'), 'a')
      assert.equal(await search('größe'), 'b')
      assert.equal(await search('grosse'), '')
      assert.equal(await search('数*'), 'b')
      assert.equal(
        ids(
          await desk.store.find('conformance_items', {
            where: { group: 'search' },
            search: ['beta'],
            order: ['count', 'asc'],
          }),
        ),
        'ba',
      )
      const page = await desk.store.find('conformance_items', {
        where: { group: 'search' },
        search: ['beta'],
        limit: 1,
      })
      assert.equal(ids(page), 'b')
      assert.equal(
        ids(
          await desk.store.find('conformance_items', {
            where: { group: 'search' },
            search: ['beta'],
            limit: 1,
            cursor: String(page.next_cursor),
          }),
        ),
        'a',
      )
    })

    it('follows puts, patches and removals', async (t) => {
      if (desk.store.capabilities.search === 'none') return t.skip('this backend has no search')
      const search = async (token: string) =>
        ids(await desk.store.find('conformance_items', { where: { group: 'follow' }, search: [token] }))
      await put('follow', 'a', { words: ['one', 'two'] })
      await desk.store.patch('conformance_items', ['follow', 'a'], { count: 1 })
      assert.equal(await search('one'), 'a')
      await desk.store.patch('conformance_items', ['follow', 'a'], { words: ['two', 'three'] })
      assert.equal(await search('one'), '')
      assert.equal(await search('three'), 'a')
      assert.equal(
        await desk.store.patch('conformance_items', ['follow', 'a'], { words: ['lost'] }, { count: 2 }),
        false,
      )
      assert.equal((await search('lost')) + (await search('three')), 'a')
      await put('follow', 'a', { count: 2 })
      assert.equal(await search('two'), '')
      await put('follow', 'b', { words: ['two'] })
      await desk.store.write([{ table: 'conformance_items', key: ['follow', 'b'], remove: true }])
      await put('follow', 'c')
      assert.equal(await search('two'), '')
    })
  })
}
