import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { Ollama } from 'ollama'
import { ollamaReply } from '../kit/replies.ts'
import { type Service, startService } from '../kit/service.ts'

const tools = [
  {
    type: 'function',
    function: { name: 'read_file', description: '', parameters: { type: 'object', required: [], properties: {} } },
  },
]

describe('the ollama client', () => {
  let service: Service
  let session = ''
  let count = 0
  before(async () => {
    service = await startService({ config: 'default_mode: enforce' })
  })
  after(() => service[Symbol.asyncDispose]())
  beforeEach(() => {
    session = `ollama-${++count}`
  })

  const client = (key = service.gateway.key) =>
    new Ollama({
      host: service.gateway.url,
      headers: { authorization: `Bearer ${key}`, 'x-guard-session-id': session },
    })
  const hello = [{ role: 'user', content: 'hi' }]

  it('chats and generates, with and without a stream', async () => {
    const ollama = client()
    assert.equal((await ollama.chat({ model: 'm-1', messages: hello })).message.content, 'Hello there.')
    let text = ''
    for await (const part of await ollama.chat({ model: 'm-1', messages: hello, stream: true, think: true }))
      text += part.message.content
    assert.equal((await ollama.generate({ model: 'm-1', prompt: 'hi', system: 'Be short.' })).response, 'Hello there.')
    for await (const part of await ollama.generate({ model: 'm-1', prompt: 'hello', stream: true }))
      text += part.response
    assert.equal(text, 'Hello there.Hello there.')
    assert.equal((await service.session(session)).total_tokens, 100)
    const outcomes = (await service.events(session)).map(({ attributes }) => attributes.outcome)
    assert.deepEqual(outcomes, ['ok', 'ok', 'ok', 'ok'])
  })

  it('calls tools and tells their results, which are paired', async () => {
    const call = { function: { name: 'read_file', arguments: { path: 'a.ts' } } }
    service.provider.script({
      headers: { 'content-type': 'application/x-ndjson' },
      body: `${JSON.stringify({ model: 'm-1', message: { role: 'assistant', content: '', tool_calls: [call] }, done: false })}\n${ollamaReply(true, ' ').body}`,
      chunked: true,
    })
    const called: unknown[] = []
    for await (const { message } of await client().chat({ model: 'm-1', messages: hello, tools, stream: true }))
      called.push(...(message.tool_calls ?? []))
    assert.deepEqual(called, [call])
    const turn = [
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', content: 'const a = 1', tool_name: 'read_file' },
    ]
    for (let turns = 1; turns < 3; turns++)
      await client().chat({
        model: 'm-1',
        tools,
        messages: [...hello, ...Array.from({ length: turns }, () => turn).flat()],
      })
    await assert.rejects(
      client().chat({ model: 'm-1', tools, messages: [...hello, ...turn, ...turn, ...turn] }),
      (error: { status_code: number; message: string }) => {
        assert.equal(error.status_code, 429)
        assert.match(error.message, /^Guard blocked this request: read_file was called 3 times/)
        return true
      },
    )
  })

  it('lists models and asks for versions', async () => {
    assert.deepEqual(
      (await client().list()).models.map(({ name }) => name),
      ['m-1'],
    )
    assert.deepEqual(await client().version(), { version: '0.13.0' })
    const before = service.provider.requests.length
    await client().show({ model: 'm-1' })
    await client().ps()
    await client().embed({ model: 'm-1', input: 'hi' })
    assert.deepEqual(
      service.provider.requests.slice(before).map(({ path }) => path),
      ['/api/show', '/api/ps', '/api/embed'],
    )
  })

  it('is told of a wrong key and of errors of the provider in a text', async () => {
    await assert.rejects(client('wrong').chat({ model: 'm-1', messages: hello }), /key is missing or wrong/)
    service.provider.script({ status: 404, body: '{"error":"model not found"}' })
    await assert.rejects(client().chat({ model: 'm-1', messages: hello }), /^ResponseError: model not found/)
    service.provider.script({
      headers: { 'content-type': 'application/x-ndjson' },
      body: '{"error":"runner stopped"}\n',
      chunked: true,
    })
    const stream = await client().chat({ model: 'm-1', messages: [{ role: 'user', content: 'x' }], stream: true })
    await assert.rejects(async () => {
      for await (const _ of stream);
    }, /runner stopped/)
    assert.equal((await service.events(session)).at(-1)?.attributes.outcome, 'upstream_error')
  })
})
