import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { type ApiStyle, apiStyle, type Call, type Part, type Settled } from 'guard-gateway/core'
import { aCall, aReading, blocked, settled } from '../../kit/settled.ts'
import { type Bench, present, startBench } from './kit.ts'

/** Elements of this dialect are the parts themselves. */
const plainStyle = apiStyle({
  id: 'messages',
  paths: ['/v1/messages'],
  list: 'messages',
  envelope: () => aCall().envelope,
  parts: (element) => [element as Part],
  meter: () => ({ push: () => {}, end: () => aReading() }),
  refusal: (error) => error,
} satisfies ApiStyle)

const user = (text: string): Part => ({ kind: 'user', text })
const answer: Part = { kind: 'text', text: 'earlier answer' }
const toolCall: Part = { kind: 'call', tool: 'read_file', args: {}, id: 'toolu_1' }
const KEY = `sk-ant-api03-${'aB3'.repeat(31)}AA`

describe('recorder: previews with full content logging', () => {
  let bench: Bench
  before(async () => {
    bench = await startBench({ full_content_logging: true, plugins: [plainStyle] })
  })
  after(() => bench.close())

  let ids = 0
  const recorded = async (one: Settled) => {
    const id = `guardreq_p${++ids}`
    await bench.settle({ ...one, call: { ...one.call, id } })
    assert.deepEqual(bench.faults.splice(0), [])
    return present(await bench.gateway.storage.get('calls', id))
  }
  const request = async (messages: readonly Part[], over: Partial<Call> = {}) =>
    (await recorded(settled({ call: aCall(over, { messages }) }))).request_preview
  const response = async (text: string, bytes_out?: number) => {
    const head = Buffer.from(JSON.stringify({ content: [{ type: 'text', text }] }))
    return (await recorded(settled({ head, bytes_out: bytes_out ?? head.length }))).response_preview
  }

  it('requests the first bytes of replies', () =>
    assert.deepEqual(bench.gateway.service('previews').get(), { stream: 1_000, whole: 262_144 }))

  it('has the part of a request after the last assistant turn', async () => {
    const result: Part = { kind: 'result', text: 'file text' }
    assert.equal(await request([user('first'), answer, toolCall, result, user('and now?')]), 'file text\nand now?')
  })
  it('has a first request without its system text', async () => {
    assert.equal(await request([{ kind: 'system', text: 'be brief' }, user('hello')]), 'hello')
  })
  it('has input beside the list', async () => {
    const envelope = {
      ...aCall().envelope,
      before: [{ kind: 'system', text: 'be brief' } as const, user('plain input')],
    }
    assert.equal(await request([], { envelope }), 'plain input')
  })
  it('has the input before a started reply', async () => assert.equal(await request([user('hello'), answer]), 'hello'))
  it('is null without text', async () => assert.equal(await request([answer]), null))
  it('reads compressed bodies', async () => {
    const body = Buffer.from(JSON.stringify({ messages: [user('hello')] }))
    assert.equal(await request([], { body: gzipSync(body), headers: { 'content-encoding': 'gzip' } }), 'hello')
    assert.equal(await request([], { body: zstdCompressSync(body), headers: { 'content-encoding': 'ZSTD' } }), 'hello')
  })

  it('has the reply', async () => assert.equal(await response('All done.'), 'All done.'))
  it('has the error message', async () => {
    const row = await recorded(settled({ error: { type: 'overloaded_error', code: null, message: 'Try later' } }))
    assert.equal(row.response_preview, 'Try later')
  })
  it('is null for a blocked reply', async () =>
    assert.equal((await recorded(blocked(aCall({}, { messages: [user('again')] })))).response_preview, null))

  it('is at most 500 characters, truncated after redaction', async () => {
    const shown = present(await response(`${'a '.repeat(240)}${KEY} ${'b '.repeat(400)}`))
    assert.ok(shown.length <= 500, `${shown.length}`)
    assert.ok(!shown.includes('sk-ant'))
    assert.ok(shown.includes('[REDACTED'))
  })
  it('never splits a character', async () => {
    const shown = present(await response(`x${'😀'.repeat(400)}`))
    assert.equal(shown.isWellFormed(), true)
    assert.equal(shown.length, 499)
  })
  it('drops the incomplete last word of a truncated reply', async () => {
    assert.equal(await response(`token is ${KEY.slice(0, 16)}`, 5_000), 'token is ')
    assert.equal(await response('Hel', 5_000), null)
  })
  it('redacts secrets of a request', async () => {
    const shown = present(await request([user(`use ${KEY} please`)]))
    assert.ok(!shown.includes('aB3aB3'))
    assert.ok(shown.startsWith('use [REDACTED'))
  })
  it('writes the record if a preview fails, and reports it', async () => {
    await bench.settle(settled({ call: aCall({ id: 'guardreq_odd', body: Buffer.from('{') }) }))
    assert.deepEqual(
      bench.faults.splice(0).map(({ where }) => where),
      ['recorder:preview'],
    )
    assert.equal(present(await bench.gateway.storage.get('calls', 'guardreq_odd')).request_preview, null)
  })
})
