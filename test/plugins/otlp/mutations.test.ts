import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { pairs, resourceSpans, span } from '../../kit/otlp-data.ts'
import { type Receiver, startReceiver } from './kit.ts'
import { protobufBytes } from './spans.ts'

/** Where bytes are changed, cut out or put in. */
const edits = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    remove: fc.nat(4),
    insert: fc.uint8Array({ maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 6 },
)

const edited = (bytes: Buffer, changes: readonly { at: number; remove: number; insert: Uint8Array }[]): Buffer =>
  changes.reduce((whole, { at, remove, insert }) => {
    const from = Math.floor(at * whole.length)
    return Buffer.concat([whole.subarray(0, from), insert, whole.subarray(from + remove)])
  }, bytes)

/** Values of other types than a reader expects. */
const odd = fc.constantFrom<unknown>(
  null,
  7,
  -1,
  1.5,
  '',
  'x',
  true,
  [],
  {},
  [null],
  [[]],
  { values: 3 },
  '9'.repeat(40),
)

/** The tree with the member that `pick` comes upon replaced. */
const replaced = (tree: unknown, pick: number, value: unknown): unknown => {
  let left = pick
  const walk = (node: unknown): unknown => {
    if (left-- === 0) return value
    if (Array.isArray(node)) return node.map(walk)
    if (node === null || typeof node !== 'object') return node
    return Object.fromEntries(Object.entries(node).map(([key, member]) => [key, walk(member)]))
  }
  return walk(tree)
}

describe('damaged requests get ordinary responses', () => {
  let receiver: Receiver
  const faults: unknown[] = []
  before(async () => {
    receiver = await startReceiver()
    receiver.started.gateway.hooks.fault.tap('test', (error) => void faults.push(error))
  })
  after(() => receiver.started.close())

  const answered = async (body: string | Buffer, type: string): Promise<number> => {
    const answer = await receiver.post(body, { 'content-type': type })
    await answer.arrayBuffer()
    assert.ok([200, 400].includes(answer.status), `status ${answer.status}`)
    assert.deepEqual(faults, [])
    return answer.status
  }
  /** Sends what `cases` gives and demands that readers took some and refused some. */
  const all = async <T>(cases: fc.Arbitrary<T>, send: (one: T) => Promise<number>): Promise<void> => {
    const seen = new Set<number>()
    const property = fc.asyncProperty(cases, async (one) => void seen.add(await send(one)))
    await fc.assert(property, { seed: 20_260_101, numRuns: 250 })
    assert.deepEqual([...seen].sort(), [200, 400])
  }

  it('protobuf with changed bytes', async () => {
    const bytes = await protobufBytes()
    await all(edits, (changes) => answered(edited(bytes, changes), 'application/x-protobuf'))
  })
  it('protobuf with endless nesting', async () => {
    // from the inside out, joined once: to copy all at each depth takes seconds
    const parts: Buffer[] = [Buffer.from([0x0a, 0x00])]
    let size = 2
    const before = (part: Buffer): void => {
      parts.push(part)
      size += part.length
    }
    const frame = (tag: number): void => {
      const length: number[] = []
      for (let rest = size; ; rest >>>= 7) {
        length.push(rest > 127 ? (rest & 127) | 128 : rest)
        if (rest <= 127) break
      }
      before(Buffer.from([tag, ...length]))
    }
    for (let depth = 0; depth < 5_000; depth++) for (const tag of [0x0a, 0x2a]) frame(tag)
    frame(0x12)
    before(Buffer.from([0x0a, 4, ...Buffer.from('deep')]))
    for (const tag of [0x4a, 0x12, 0x12, 0x0a]) frame(tag)
    assert.equal(await answered(Buffer.concat(parts.reverse()), 'application/x-protobuf'), 400)
  })
  it('JSON with values of other types', async () => {
    const attributes = [
      ...pairs({ a: 'b', n: { intValue: '5' }, __proto: { arrayValue: { values: [{ stringValue: 'x' }] } } }),
    ]
    const events = [{ name: 'e', timeUnixNano: '1782000000123456789', attributes }]
    const links = [{ traceId: 'c'.repeat(32), spanId: 'd'.repeat(16) }]
    const tree = resourceSpans([span({ attributes, events, links, status: { code: 2, message: 'm' } })], { r: 's' })
    const cases = fc.tuple(fc.nat(70), odd)
    await all(cases, ([pick, value]) => answered(JSON.stringify(replaced(tree, pick, value)), 'application/json'))
  })
  it('JSON with names that are special in JavaScript', async () => {
    const attributes = pairs({ constructor: 'a', toString: 'b' })
    const text = JSON.stringify(resourceSpans([span({ attributes })])).replaceAll('"constructor"', '"__proto__"')
    assert.equal(await answered(text, 'application/json'), 200)
    const [id] = await receiver.runIds()
    const { text: shown } = await receiver.started.request('GET', `/api/v1/runs/${id}`)
    assert.match(shown, /"__proto__":"a"/)
  })
})
