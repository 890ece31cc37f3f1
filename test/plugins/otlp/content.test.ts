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

describe('what people and models said', () => {
  it('is left out', async () => {
    await using receiver = await startReceiver()
    assert.deepEqual(await receiver.taken(talk), {})
    const { run, spans } = await receiver.run(traceId)
    const [, step] = spans
    assert.deepEqual(Object.keys(run.attributes), ['resource.service.name'])
    const names = Object.keys(step?.attributes ?? {}).filter((name) => !name.startsWith('guard.'))
    assert.deepEqual(names.sort(), ['gen_ai.request.model', 'note', 'token_for_me'])
    assert.deepEqual(
      step?.events.map(({ name, attributes }) => [name, Object.keys(attributes)]),
      [['log', ['line']]],
    )
    assert.equal(JSON.stringify(spans).includes(SECRET.slice(0, 20)), false)
  })

  it('is kept in previews where the configuration says so: redacted, then cut to 500 characters', async () => {
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
    assert.equal(step?.attributes.note, LONG)
    assert.equal(String(run.attributes['resource.user_prompt']).length, 500)
    const [message, log] = step?.events ?? []
    assert.deepEqual([String(message?.attributes.content).length, message?.attributes.more], [500, 7])
    assert.deepEqual([String(log?.attributes.completion).length, log?.attributes.line], [500, LONG])
  })
})
