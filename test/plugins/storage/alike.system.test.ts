import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { type Change, type Query, type Storage, type StorageBackend, storage } from 'guard-gateway/core'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'
import { type ConformanceItem, item, openPlain } from '../../conformance/storage.ts'
import { cleanUpPostgres, needsPostgres, newDatabase } from '../../kit/postgres.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-alike-'))
after(() => rmSync(folder, { recursive: true }))

const small = fc.constantFrom<number | null>(null, 0, 1, 2, 3)
const word = fc.constantFrom('alpha', 'alpine', 'beta', 'gamma_ray')
const row = fc.record({
  count: small,
  total: fc.constantFrom<bigint | null>(null, -1n, 0n, 2n ** 62n),
  done: fc.constantFrom(null, true, false),
  ratio: fc.constantFrom(null, 0.5, 1),
  words: fc.uniqueArray(word),
})
const test = fc.oneof(
  small,
  fc.record({ in: fc.uniqueArray(fc.constantFrom(0, 1, 2, 3)) }),
  fc.constant({ not: null }),
  fc.record({ gte: fc.constantFrom(0, 1, 2), lt: fc.constantFrom(2, 3) }, { requiredKeys: [] }),
)
const query: fc.Arbitrary<Query<ConformanceItem>> = fc.record(
  {
    where: fc.record(
      {
        group: fc.constantFrom('a', 'b'),
        count: test,
        total: fc.constantFrom({ gte: 0n }, null, -1n),
        done: fc.constantFrom(null, true),
      },
      { requiredKeys: [] },
    ),
    search: fc.array(fc.oneof(word, fc.constantFrom('al*', 'gamma*', 'none')), { maxLength: 2 }),
    order: fc.constantFrom(['recorded', 'asc'], ['recorded', 'desc'], ['total', 'asc'], ['total', 'desc']),
    limit: fc.constantFrom(1, 3, 50),
  },
  { requiredKeys: [] },
)

const id = fc.constantFrom('x', 'y', 'z')
const name = fc.constantFrom('one', 'two', null)
const step = fc.oneof(
  fc.record({ id, put: row, name, absent: fc.boolean(), reversed: fc.boolean() }),
  fc.record({
    id,
    patch: fc.record({ count: small, name, words: fc.uniqueArray(word) }, { requiredKeys: [] }),
    expected: fc.record({ count: test }, { requiredKeys: [] }),
  }),
  fc.record({ id, add: fc.constantFrom(-2, 0, 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER) }),
  fc.record({ id }),
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** The same row, its members in another order and those that are null left out. */
const reversed = (whole: ConformanceItem): ConformanceItem =>
  Object.fromEntries(
    Object.entries(whole)
      .filter(([, value]) => value !== null)
      .reverse(),
  ) as unknown as ConformanceItem

const changeOf = (step: Step): Change => {
  const table = 'conformance_items'
  const key = ['any', step.id]
  if ('patch' in step) return { table, key, patch: step.patch, expected: step.expected }
  if ('add' in step) return { table, key, add: { count: step.add } }
  if (!('put' in step)) return { table, key, remove: true }
  const whole = item('any', step.id, { ...step.put, name: step.name })
  const put = step.reversed ? reversed(whole) : whole
  return step.absent ? { table, put, when: 'absent' } : { table, put }
}

const pages = async (store: Storage, asked: Query<ConformanceItem>): Promise<string[]> => {
  const seen: string[] = []
  let cursor: string | null = null
  for (let page = 0; page < 4; page++) {
    const found: Awaited<ReturnType<typeof store.find<'conformance_items'>>> = await store.find('conformance_items', {
      ...asked,
      ...(cursor === null ? {} : { cursor }),
    })
    seen.push(...found.rows.map((one) => `${one.group}${one.id}`), found.next_cursor === null ? 'end' : 'more')
    cursor = found.next_cursor
    if (cursor === null) break
  }
  return seen
}

/** Whether a backend does what the one in memory does. */
const alike = (name: string, other: () => Promise<StorageBackend>, skip: { readonly skip: string | boolean }): void => {
  describe(`memory and ${name}`, skip, () => {
    const stores: Storage[] = []
    before(async () => {
      stores.push(await openPlain(memory()), await openPlain(await other()))
      const rows = fc.sample(row, { seed: 7, numRuns: 1_500 })
      for (const store of stores) {
        await store.write(
          rows.map((values, n) => ({
            table: 'conformance_items',
            put: item(n % 3 === 0 ? 'a' : 'b', String(n), { ...values, name: `n${n}` }),
          })),
        )
      }
    })
    after(() => Promise.all(stores.map((store) => store.close())))

    it('give the same pages for any query', () =>
      fc.assert(
        fc.asyncProperty(query, async (asked) => {
          const [first, second] = await Promise.all(stores.map((store) => pages(store, asked)))
          assert.deepEqual(second, first)
        }),
        { seed: 11, numRuns: 150 },
      ))

    it('give the same sums for any query', () =>
      fc.assert(
        fc.asyncProperty(query, fc.subarray(['group', 'count', 'done'] as const), async (asked, by) => {
          const { where = {}, order = ['recorded', 'asc'] } = asked
          const [first, second] = await Promise.all(
            stores.map(async (store) => {
              const groups = await store.sum('conformance_items', { where, order, by, of: ['count'] })
              return groups.map((group) => JSON.stringify(group)).sort()
            }),
          )
          assert.deepEqual(second, first)
        }),
        { seed: 17, numRuns: 150 },
      ))

    it('do the same with any changes', () =>
      fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
          const batch = steps.map(changeOf)
          const [first, second] = await Promise.all(
            stores.map(async (store) => [
              await store.write(batch),
              await store.find('conformance_items', { where: { group: 'any' }, limit: 9 }),
              await pages(store, { where: { group: 'any' }, search: ['al*'] }),
            ]),
          )
          assert.deepEqual(second, first)
        }),
        { seed: 13, numRuns: 150 },
      ))
  })
}

alike('sqlite', async () => sqlite({ file: join(folder, 'alike.db') }), { skip: false })
alike('postgres', async () => postgres({ url: await newDatabase() }), needsPostgres)

describe('the backends', () => {
  cleanUpPostgres()
  it('are found by the names they are registered under', () => {
    assert.deepEqual(
      [memory().name, sqlite().name, postgres({ url: '' }).name],
      ['storage/memory', 'storage/sqlite', 'storage/postgres'],
    )
    assert.equal(typeof storage({ id: 'own', open: memory().open }).apply, 'function')
  })
})
