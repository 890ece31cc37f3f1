import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import type { Storage } from 'guard-gateway/core'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { decodeText, encodeText } from '../../../plugins/storage/postgres/sql/values.ts'
import { item, openPlain } from '../../conformance/storage.ts'
import { cleanUpPostgres, needsPostgres, newDatabase } from '../../kit/postgres.ts'

const character = fc.oneof(
  fc.constantFrom('\u0000', '\u0001', '\u0002', 'a', 'b', '\uffff', '\u{1f600}', '\ud7ff', '"', '\\', '{', ',', "'"),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
)
const text = fc.array(character, { maxLength: 6 }).map((characters) => characters.join(''))

const order = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))

describe('postgres: texts', needsPostgres, () => {
  cleanUpPostgres()
  const stores: Storage[] = []
  before(async () => {
    stores.push(await openPlain(memory()), await openPlain(postgres({ url: await newDatabase() })))
  })
  after(() => Promise.all(stores.map((store) => store.close())))

  it('are encoded without U+0000, so that none is lost and their order stays', () =>
    fc.assert(
      fc.property(text, text, (one, other) => {
        assert.equal(decodeText(encodeText(one)), one)
        assert.ok(!encodeText(one).includes('\u0000'))
        assert.equal(Math.sign(order(encodeText(one), encodeText(other))), Math.sign(order(one, other)))
        assert.equal(encodeText(one).startsWith(encodeText(other)) || !one.startsWith(other), true)
      }),
      { seed: 5, numRuns: 500 },
    ))

  it('are kept, found, compared and ordered as in memory, in keys, columns, lists and JSON', async () => {
    let group = 0
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(text, { minLength: 1, maxLength: 6 }), text, async (texts, bound) => {
        const name = `g${group++}`
        const rows = texts.map((one) => item(name, one, { name: one, data: { [one]: [one] } }))
        const [first, second] = await Promise.all(
          stores.map(async (store) => {
            await store.write(rows.map((put) => ({ table: 'conformance_items', put })))
            const find = async (where: object) =>
              (await store.find('conformance_items', { where: { group: name, ...where }, order: ['id', 'asc'] })).rows
            return [
              await find({}),
              await find({ id: { gte: bound } }),
              await find({ name: { in: texts.slice(1) } }),
              await find({ name: texts[0] ?? '' }),
              await store.get('conformance_items', [name, texts[0] ?? '']),
            ]
          }),
        )
        assert.deepEqual(second, first)
      }),
      { seed: 6, numRuns: 60 },
    )
  })

  it('may be long, also in keys; of a token the beginning is found', async () => {
    const [, store] = stores as [Storage, Storage]
    const long = 'é'.repeat(3_000)
    assert.equal(
      await store.put('conformance_items', item('long', 'a', { words: [long, 'short'], data: long.repeat(100) })),
      true,
    )
    const found = await store.find('conformance_items', { search: [long, `${long.slice(0, 500)}*`, 'short'] })
    assert.deepEqual(
      found.rows.map(({ data }) => String(data).length),
      [300_000],
    )
    const many = Array.from({ length: 60_000 }, (_, n) => `token_${n}`)
    assert.equal(await store.put('conformance_items', item('long', 'b', { words: many })), true)
    assert.equal((await store.find('conformance_items', { search: ['token_7'] })).rows.length, 1)
  })

  it('that are no texts are refused, with the column, and only that batch', async () => {
    const [, store] = stores as [Storage, Storage]
    const put = (rest: object) => store.put('conformance_items', { ...item('wrong', 'a'), ...rest })
    const [first, second] = await Promise.allSettled([put({ count: 1.5 }), put({ count: 2 })])
    assert.match(
      String(first.status === 'rejected' && first.reason),
      /TypeError: The batch cannot be written: 1\.5 in column "count" is no integer/,
    )
    assert.deepEqual(second, { status: 'fulfilled', value: true })
    await assert.rejects(put({ name: 7 }), /7 in column "name" is no text/)
    await assert.rejects(put({ total: 2n ** 64n }), /out of range/)
    for (const ratio of [Number.POSITIVE_INFINITY, 5e-324, -0, 1e308, 0.1 + 0.2]) {
      await put({ ratio })
      assert.equal((await store.get('conformance_items', ['wrong', 'a']))?.ratio, ratio)
    }
  })
})
