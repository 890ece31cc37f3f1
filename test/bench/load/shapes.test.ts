import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { connectionName, RequestWriter } from '../../../bench/load/request-writer.ts'
import { crowd, shapes, steady } from '../../../bench/load/shapes.ts'

const all = [...shapes(), crowd, steady]
const shapeOf = (id: string) => {
  const shape = all.find((one) => one.id === id)
  assert.ok(shape)
  return shape
}
const said = (writer: RequestWriter) => {
  const [head, body, tail] = writer.next()
  const text = Buffer.concat([body, tail])
  assert.match(head, new RegExp(`\\r\\nContent-Length: ${text.length}\\r\\n\\r\\n$`))
  return { text: text.toString(), bytes: text.length, session: /x-guard-session-id: (\S+)/.exec(head)?.[1] }
}
const sizes: Readonly<Record<string, readonly [first: number, last: number]>> = {
  chat_1k: [1_000, 1_000],
  chat_32k: [34_000, 34_000],
  flagged_32k: [34_000, 34_000],
  growing_64k: [12_000, 65_000],
  growing_500k: [490_000, 540_000],
  sse_64: [1_000, 1_000],
  streams_1000: [1_000, 1_000],
  latency_32k: [34_000, 34_000],
}

describe('shapes', () => {
  for (const shape of all) {
    it(`${shape.id} has valid bodies of its size, equal in every run`, () => {
      const writer = new RequestWriter(shape, 1, 'key', connectionName(0, 0))
      const again = new RequestWriter(shape, 1, 'key', connectionName(0, 0))
      const [first = 0, last = 0] = sizes[shape.id] ?? []
      let bytes = 0
      for (let turn = 0; turn < shape.session; turn++) {
        const { text, bytes: length } = said(writer)
        assert.equal(said(again).text, text)
        const { stream } = JSON.parse(text) as { stream: boolean }
        assert.equal(stream, shape.reply.stream !== undefined)
        if (turn === 0) assert.ok(Math.abs(length / first - 1) < 0.1, `begins with ${length} bytes`)
        assert.ok(length >= bytes)
        bytes = length
      }
      assert.ok(Math.abs(bytes / last - 1) < 0.1, `ends with ${bytes} bytes`)
    })
  }
  it('have unique names', () => assert.equal(new Set(all.map(({ id }) => id)).size, all.length))
})

describe('the requests of a connection', () => {
  it('repeat the history of a growing session and add a turn', () => {
    const shape = shapeOf('growing_64k')
    const writer = new RequestWriter(shape, 1, 'key', connectionName(0, 0))
    const one = said(writer)
    const two = said(writer)
    assert.equal(two.session, one.session)
    const shared = one.text.length - shape.conversation.tail.length
    assert.equal(two.text.slice(0, shared), one.text.slice(0, shared))
    assert.ok(two.text.length > one.text.length)
  })
  it('start a new session with other texts after the end of one', () => {
    const shape = shapeOf('growing_64k')
    const writer = new RequestWriter(shape, 1, 'key', connectionName(0, 0))
    const first = said(writer)
    for (let turn = 1; turn < shape.session; turn++) said(writer)
    const next = said(writer)
    assert.notEqual(next.session, first.session)
    assert.notEqual(next.text, first.text)
    assert.equal(next.text.length, first.text.length)
  })
  it('of flagged chats make the same calls in new conversations', () => {
    const writers = [connectionName(0, 0), connectionName(0, 1)].map(
      (name) => new RequestWriter(shapeOf('flagged_32k'), 1, 'key', name),
    )
    const all = writers.flatMap((writer) => [said(writer).text, said(writer).text])
    const messages = all.map((text) => (JSON.parse(text) as { messages: readonly unknown[] }).messages)
    assert.equal(new Set(messages.map(([, first]) => JSON.stringify(first))).size, all.length)
    assert.equal(new Set(messages.map(([, , ...calls]) => JSON.stringify(calls))).size, 1)
  })
  it('of single chats are all different, also between connections', () => {
    const shape = shapeOf('chat_32k')
    const writers = [connectionName(0, 0), connectionName(0, 1), connectionName(1, 0)].map(
      (name) => new RequestWriter(shape, 1, 'key', name),
    )
    const texts = writers.flatMap((writer) => [said(writer).text, said(writer).text])
    assert.equal(new Set(texts).size, texts.length)
  })
})
