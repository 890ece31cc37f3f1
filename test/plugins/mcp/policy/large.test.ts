import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import { documentSize, hasMoreParts, MAX_REPORTED, schemaErrors } from '../../../../plugins/mcp/policy/load.ts'
import { validatePolicy } from '../../../../plugins/mcp/policy/validate.ts'

const gateway = new Gateway().use(...foundation())

describe('a policy that is wrong in thousands of places', () => {
  it('is told everything while it is small, and the first thing else: no more errors are made than told', async () => {
    const wrong = (count: number) => ({ version: 1, rules: new Array(count).fill(1) })
    assert.equal((await schemaErrors(wrong(1000), gateway)).length, 1000)
    for (const count of [MAX_REPORTED, 500_000]) assert.equal((await schemaErrors(wrong(count), gateway)).length, 1)
    const keys = {
      version: 1,
      rules: [],
      ...Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`k${n}`, n])),
    }
    assert.equal((await schemaErrors(keys, gateway)).length, 1)
    for (const value of [wrong(500_000), keys, { ...keys, rules: [{ id: 'a', tools: ['x'], action: 'allow' }] }]) {
      const { valid, errors } = await validatePolicy(gateway, { value })
      assert.deepEqual([valid, errors.map(({ message }) => message)], [false, ['has more than 40000 keys and values']])
    }
  })
  it('may be valid, whatever its size', async () => {
    const rules = Array.from({ length: 1000 }, (_, n) => ({ id: `r${n}`, tools: [`t${n}`, 'x', 'y'], action: 'allow' }))
    assert.ok(hasMoreParts(rules, MAX_REPORTED))
    assert.deepEqual(await schemaErrors({ version: 1, rules }, gateway), [])
  })
  it('is counted no further than it has to be', () => {
    assert.equal(hasMoreParts([1, [2, { a: 3 }]], 6), false)
    assert.equal(hasMoreParts([1, [2, { a: 3 }]], 5), true)
    assert.equal(hasMoreParts('text', 1), false)
    let looked = 0
    const list = Array.from({ length: 10 }, () =>
      Object.defineProperty({}, 'a', { enumerable: true, get: () => ++looked }),
    )
    assert.equal(hasMoreParts(list, 12), true)
    assert.ok(looked < 10)
  })
  it('is gone through once before it is checked: parts, depth, integers with every digit', () => {
    const none = { tooDeep: false, bigints: false }
    assert.deepEqual(documentSize([1, [2, { a: 3 }]], 10, 3), { ...none, count: 6 })
    assert.deepEqual(documentSize([1, [2, { a: 3n }]], 10, 3), { ...none, count: 6, bigints: true })
    assert.equal(documentSize([[[[1]]]], 10, 2).tooDeep, true)
    assert.equal(documentSize([[[1]]], 10, 2).tooDeep, false)
    let looked = 0
    const list = Array.from({ length: 10 }, () =>
      Object.defineProperty({}, 'a', { enumerable: true, get: () => ++looked }),
    )
    assert.equal(documentSize(list, 5, 3).count, 6)
    assert.equal(looked, 2)
  })
  it('gives others their turn before it is checked', async () => {
    await schemaErrors({}, gateway)
    const turnsOf = async (value: unknown) => {
      let turns = 0
      setImmediate(() => turns++)
      await validatePolicy(gateway, { value })
      return turns
    }
    const listOf = (count: number) => ({ version: 1, rules: new Array(count).fill(1) })
    await turnsOf(listOf(MAX_REPORTED))
    assert.equal(await turnsOf(listOf(2)), 0)
    assert.equal(await turnsOf(listOf(MAX_REPORTED)), 1)
  })
})
