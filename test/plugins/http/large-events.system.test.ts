import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ask, type Started, start, styles } from './kit.ts'

const MIB = 1024 * 1024
const image = (mib: number): string => 'A'.repeat(mib * MIB)
const usage = { input_tokens: 11, output_tokens: 3 }

/** A reply of each dialect whose event with the usage holds so many MiB of images in one line. */
const streams = (mib: number): Readonly<Record<string, string>> => {
  const images = [
    { type: 'image_generation_call', result: image(mib / 2) },
    { type: 'image_generation_call', result: image(mib / 2) },
  ]
  const completed = {
    type: 'response.completed',
    response: { id: 'resp_1', model: 'm-1', status: 'completed', output: images, usage },
  }
  const chat = {
    id: 'c-1',
    choices: [{ index: 0, delta: { content: 'Hi', images }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 11, completion_tokens: 3 },
  }
  return {
    '/v1/responses': `event: response.completed\ndata: ${JSON.stringify(completed)}\n\n`,
    '/v1/chat/completions': `data: ${JSON.stringify(chat)}\n\ndata: [DONE]\n\n`,
    '/v1/messages': [
      { type: 'message_start', message: { id: 'msg_1', model: 'm-1', usage: { input_tokens: 11, output_tokens: 1 } } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', more: images }, usage: { output_tokens: 3 } },
      { type: 'message_stop' },
    ]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
  }
}

const isMetered = async (running: Started, path: string, sent: string, type: string, body: object): Promise<void> => {
  running.provider.script({ body: sent, headers: { 'content-type': type }, chunked: true })
  const got = await ask(running.port, { path, body })
  assert.equal(got.body.length, sent.length)
  assert.ok(got.body.equals(Buffer.from(sent)), 'byte for byte')
  const settled = running.settled.at(-1)
  assert.equal(settled?.outcome, 'ok', path)
  assert.equal(settled?.usage_source, 'reported', path)
  assert.deepEqual([settled?.usage.input_tokens, settled?.usage.output_tokens], [11, 3], path)
}

describe('a reply with large images', () => {
  it('has its usage read from an event of one line beyond 8 MiB', async () => {
    await using running = await start()
    const sent = streams(10)
    for (const [path, body] of styles)
      await isMetered(running, path, sent[path] ?? '', 'text/event-stream', { ...body, stream: true })
  })
  it('has its usage read from an event of 64 MiB', async () => {
    await using running = await start()
    const path = '/v1/responses'
    await isMetered(running, path, streams(64)[path] ?? '', 'text/event-stream', {
      model: 'm-1',
      input: 'x',
      stream: true,
    })
  })
  it('has its usage read from a body beyond 16 MiB that is no stream', async () => {
    await using running = await start()
    const output = [{ type: 'image_generation_call', result: image(40) }]
    const whole = { id: 'resp_1', model: 'm-1', status: 'completed', output, usage }
    await isMetered(running, '/v1/responses', JSON.stringify(whole), 'application/json', { model: 'm-1', input: 'x' })
  })
})
