import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Chain, Conversation } from 'guard-gateway/core'
import { RequestReader } from '#lib/request-reader'
import { plain } from '../../../../kit/plain-style.ts'

const reader = new RequestReader()
type Said = { readonly kind: 'system' | 'user'; readonly text: string }

const read = (items: readonly Said[], hint: string): Conversation =>
  reader.read(plain, Buffer.from(JSON.stringify({ model: 'm', items })), hint).conversation

const said = fc.record({ kind: fc.constantFrom('system', 'user', 'user'), text: fc.constantFrom('a', 'b') })
/** Long enough to be hashed in several stretches. */
const items = fc.array(said, { maxLength: 70 })

let hints = 0
const fresh = () => `chains ${hints++}`

/** How many first items of two lists are equal. */
const alike = (one: readonly Said[], other: readonly Said[]): number => {
  const differs = one.findIndex(({ kind, text }, at) => other[at]?.kind !== kind || other[at].text !== text)
  return differs === -1 ? one.length : differs
}

const lengths = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1)

const isTold = (chain: Chain, other: Chain, equal: number): void => {
  for (const length of lengths(Math.min(chain.length, other.length)))
    assert.equal(chain.tipOf(length) === other.tipOf(length), length <= equal, `at ${length}`)
}

describe('the beginnings of a conversation', () => {
  it('have equal tips exactly as far as items are equal, with those of the system and without them', () => {
    const pairs = fc.tuple(items, fc.nat(70), items).map(([one, kept, rest]) => [one, [...one.slice(0, kept), ...rest]])
    fc.assert(
      fc.property(pairs, ([one = [], other = []]) => {
        const [left, right] = [read(one, fresh()), read(other, fresh())]
        isTold(left.chain, right.chain, alike(one, other))
        const [spoken, heard] = [one, other].map((list) => list.filter(({ kind }) => kind !== 'system'))
        isTold(left.talk, right.talk, alike(spoken ?? [], heard ?? []))
      }),
    )
  })
  it('are known by the same tips whether all was there at once or came bit by bit, and when it goes back', () => {
    fc.assert(
      fc.property(items, fc.array(fc.nat(70), { maxLength: 6 }), (all, ends) => {
        const hint = fresh()
        for (const end of ends) {
          const now = all.slice(0, end)
          const [grown, whole] = [read([LONG, ...now], hint), read([LONG, ...now], fresh())]
          for (const name of ['chain', 'talk'] as const)
            for (const length of lengths(whole[name].length))
              assert.equal(grown[name].tipOf(length), whole[name].tipOf(length))
          assert.equal(grown.fingerprint, whole.fingerprint)
        }
      }),
    )
  })
  it('have none for no item, nor for more than there are; the last is that of all', () => {
    for (const count of [0, 1, 15, 16, 17, 32, 33]) {
      const { chain, talk } = read([LONG, ...Array<Said>(count).fill({ kind: 'user', text: 'a' })], fresh())
      for (const one of [chain, talk]) {
        assert.equal(one.tipOf(0), undefined)
        assert.equal(one.tipOf(-1), undefined)
        assert.equal(one.tipOf(one.length + 1), undefined)
        assert.equal(one.tip, one.tipOf(one.length) ?? '')
      }
    }
  })
  it('are found by their tips, the longest of several', () => {
    fc.assert(
      fc.property(items, fc.array(fc.nat(70), { maxLength: 3 }), (all, marked) => {
        const { chain, talk } = read([LONG, ...all], fresh())
        for (const one of [chain, talk]) {
          const known = marked.filter((length) => length > 0 && length <= one.length)
          const tips = new Set(['elsewhere', ...known.map((length) => one.tipOf(length) ?? '')])
          assert.equal(one.longestIn(tips), Math.max(0, ...known))
        }
      }),
    )
  })
})

/** Makes a body long enough to be kept. */
const LONG: Said = { kind: 'system', text: 'long '.repeat(500) }
