import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pairs, resourceSpans, span, traceId } from '../../kit/otlp-data.ts'
import { startReceiver } from './kit.ts'

const SECRET = `sk-ant-api03-${'Zq7'.repeat(20)}`
const LONG = 'word '.repeat(400)
const messages = {
  arrayValue: { values: [{ kvlistValue: { values: pairs({ role: 'user', password: 'hunter2-long' }) } }] },
}

const talk = resourceSpans(
  [
    span({
      attributes: pairs({
        'gen_ai.prompt.0.content': `${LONG.slice(0, 480)} ${SECRET} ${LONG}`,
        'gen_ai.input.messages': messages,
        'gen_ai.request.model': 'gpt-5.4',
        note: LONG,
        token_for_me: SECRET,
      }),
      events: [
        { name: 'gen_ai.user.message', attributes: pairs({ content: LONG, more: { intValue: '7' } }) },
        { name: 'log', attributes: pairs({ completion: LONG, line: LONG }) },
      ],
    }),
  ],
  { 'service.name': 'svc', user_prompt: LONG },
)

describe('prompts and replies', () => {
  it('are dropped by default', async () => {
    await using receiver = await startReceiver()
    assert.deepEqual(await receiver.taken(talk), {})
    const { run, spans } = await receiver.run(traceId)
    const [, step] = spans
    assert.deepEqual(Object.keys(run.attributes), ['resource.service.name'])
    const names = Object.keys(step?.attributes ?? {}).filter((name) => !name.startsWith('guard.'))
    assert.deepEqual(names.sort(), ['gen_ai.request.model'])
    assert.deepEqual(
      step?.events.map(({ name, attributes }) => [name, Object.keys(attributes)]),
      [['log', []]],
    )
    assert.equal(JSON.stringify(spans).includes(SECRET.slice(0, 20)), false)
  })

  it('of the project’s own integrations are stored redacted', async () => {
    await using receiver = await startReceiver()
    const attributes = { prompt: 'do it', note: LONG, 'tool.input': { path: 'a.txt' }, token_for_me: SECRET }
    const body = { trace_id: 'ours', attributes, spans: [{ name: 'x', status_message: LONG, attributes }] }
    assert.equal((await receiver.started.request('POST', '/api/v1/traces', body)).status, 201)
    const again = await receiver.started.request('GET', '/api/v1/runs/ours/export?format=otel')
    const imported = await receiver.started.request('POST', '/api/v1/runs/import', again.text)
    assert.equal(imported.status, 201, imported.text)
    for (const id of await receiver.runIds()) {
      const { run, spans } = await receiver.run(id)
      const step = spans.find(({ name }) => name === 'x')
      for (const kept of [run.attributes, step?.attributes]) {
        const { prompt, note, 'tool.input': input } = kept ?? {}
        assert.deepEqual([prompt, note, input], ['do it', LONG, { path: 'a.txt' }])
      }
      assert.equal(step?.status_message, LONG.slice(0, 2_000))
      assert.equal(JSON.stringify(run).includes(SECRET.slice(0, 20)), false)
    }
    assert.equal((await receiver.runIds()).length, 2)
  })

  it('are stored as redacted previews of 500 characters with full content logging', async () => {
    await using receiver = await startReceiver({ storage: 'full_content_logging: true' })
    assert.deepEqual(await receiver.taken(talk), {})
    const { run, spans } = await receiver.run(traceId)
    const [, step] = spans
    const prompt = String(step?.attributes['gen_ai.prompt.0.content'])
    assert.equal(prompt.length, 500)
    assert.match(prompt, /\[REDACTED:/)
    assert.equal(JSON.stringify({ run, spans }).includes('sk-ant'), false)
    const input = String(step?.attributes['gen_ai.input.messages'])
    assert.match(input, /"role":"user"/)
    assert.doesNotMatch(input, /hunter2/)
    assert.equal(String(step?.attributes.note).length, 500)
    assert.equal(String(run.attributes['resource.user_prompt']).length, 500)
    const [message, log] = step?.events ?? []
    assert.deepEqual([String(message?.attributes.content).length, message?.attributes.more], [500, 7])
    assert.deepEqual([String(log?.attributes.completion).length, String(log?.attributes.line).length], [500, 500])
  })

  it('hold no half of a value that the session shows with its name, before or behind', async () => {
    await using receiver = await startReceiver({ storage: 'full_content_logging: true' })
    const value = 'a7Kq93mZx20bVt5LwPd8'
    const bare = `${'word '.repeat(97)}${value} and more`
    const step = (traceId: string, at: number, prompt: string) =>
      span({
        traceId,
        spanId: `00f067aa0ba902b${at}`,
        attributes: pairs({ 'session.id': 'night', 'gen_ai.prompt': prompt }),
      })
    const other = 'b'.repeat(32)
    await receiver.taken(resourceSpans([step(traceId, 1, bare), step(traceId, 2, `DB_PASSWORD=${value}`)]))
    await receiver.taken(resourceSpans([step(other, 3, bare)]))
    await receiver.taken(resourceSpans([step('c'.repeat(32), 4, bare)]), { 'x-guard-project-id': 'bravo' })
    for (const id of [traceId, other])
      assert.doesNotMatch(JSON.stringify(await receiver.run(id)), new RegExp(value.slice(0, 8)))
    assert.match(JSON.stringify(await receiver.run('c'.repeat(32))), new RegExp(value.slice(0, 8)))
  })
})
