import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ApiStyle, Gateway, type Part } from 'guard-gateway/core'
import { http } from 'guard-gateway/plugins/http'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { foundation } from 'guard-gateway/presets/foundation'
import { targetOf } from '#lib/api-style'
import { RequestReader, readRequest } from '#lib/request-reader'
import { plain } from '../../../kit/plain-style.ts'
import { assertReadAlike } from '../../../kit/read-alike.ts'

/** Bodies from 2 KiB on are kept. */
const sizes = [10, 3000]

const items = (size: number) => [
  { kind: 'user', text: 'go on '.repeat(size) },
  { kind: 'call', tool: 'look', args: { at: 1 }, id: 'c1' },
  { kind: 'result', id: 'c1', text: `seen ${'x'.repeat(200)}` },
  { kind: 'call', tool: 'look', args: { at: 1 }, id: 'c2' },
  { kind: 'result', id: 'c2', text: `seen ${'x'.repeat(200)}` },
]
const bodyOf = (size: number, more: object = {}) =>
  Buffer.from(JSON.stringify({ model: 'm', tools: [{ name: 'look' }], ...more, items: items(size) }))

/** Of the same id and the same members, to which everything is said by the user. */
const deaf: ApiStyle = {
  ...plain,
  envelope: (members) => ({ ...plain.envelope(members, targetOf(plain)), model: 'deaf' }),
  parts: (element) => [{ kind: 'user', text: JSON.stringify(element) }],
}

/** Counts the elements that it is given. */
const counting = () => {
  const count = { elements: 0 }
  const parts = (element: unknown): readonly Part[] => {
    count.elements++
    return plain.parts(element)
  }
  return { count, style: { ...plain, parts } satisfies ApiStyle }
}

describe('what is remembered of request bodies', () => {
  for (const size of sizes) {
    it(`is that of one style, though another has its id: ${size} words`, () => {
      const reader = new RequestReader()
      for (const style of [plain, plain, plain, deaf, plain, deaf, deaf]) {
        const read = reader.read(style, bodyOf(size), 'session')
        const anew = readRequest(style, bodyOf(size))
        assert.deepEqual(read.envelope, anew.envelope)
        assertReadAlike(read.conversation, anew.conversation)
      }
    })

    it(`is not what another style reads in the same bytes, asked for later: ${size} words`, () => {
      const body = bodyOf(size, { said: [{ kind: 'user', text: 'elsewhere' }] })
      const elsewhere: ApiStyle = { ...plain, list: 'said' }
      const styles = [plain, elsewhere]
      const anew = styles.map((style) => readRequest(style, Buffer.from(body)).conversation)
      const openings = anew.map(({ opening }) => opening)
      const reader = new RequestReader()
      const read = styles.map((style) => reader.read(style, body, 'session').conversation)
      assert.deepEqual(
        read.map(({ opening }) => opening),
        openings,
      )
      assert.deepEqual(
        read.map((conversation) => conversation.resultTexts?.(1).length),
        [1, 0],
      )
    })
  }

  it('is known to one reader alone: no other knows it', () => {
    const { style, count } = counting()
    const told = [new RequestReader(), new RequestReader()].map((reader) =>
      ['a', 'b', 'c'].map(() => {
        count.elements = 0
        reader.read(style, bodyOf(3000), 'session')
        return count.elements
      }),
    )
    assert.deepEqual(told, [
      [5, 0, 0],
      [5, 0, 0],
    ])
  })

  it('is forgotten when the gateway closes, which continues reading', async () => {
    const { style, count } = counting()
    const gateway = new Gateway().use(...foundation(), memory(), http({ gateway_key: 'k' }))
    await gateway.open()
    const body = bodyOf(3000)
    const read = () => {
      count.elements = 0
      const { envelope, conversation } = gateway.service('requests').need().reader.read(style, body, 'session')
      return { envelope, conversation, elements: count.elements }
    }
    const before = [read(), read(), read()]
    await gateway.close()
    const after = [read(), read(), read()]
    assert.deepEqual(
      [...before, ...after].map(({ elements }) => elements),
      [5, 0, 0, 5, 0, 0],
    )
    assert.notEqual(before[0]?.envelope, after[0]?.envelope)
    // what was read before is still told in full
    for (const { conversation } of [...before, ...after])
      assertReadAlike(conversation, readRequest(plain, body).conversation)
  })
})
