import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import type { SocketClient } from '../../kit/socket-client.ts'
import { startSocketService, until } from './kit.ts'

const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.json(),
  fc.constantFrom(
    '',
    '{',
    '{}',
    'null',
    '"x"',
    '{"type":"response.create"}',
    '{"type":"response.steer"}',
    '{"type":{}}',
  ),
  fc
    .record({
      type: fc.constantFrom<unknown>('response.create', 'response.steer', 'response.cancel', 'x', 1, null),
      model: fc.jsonValue(),
      input: fc.jsonValue(),
      stream_id: fc.jsonValue(),
      generate: fc.jsonValue(),
      previous_response_id: fc.jsonValue(),
      tools: fc.jsonValue(),
      client_metadata: fc.jsonValue(),
    })
    .map((value) => JSON.stringify(value)),
)

/** A frame as some client may build it: any first byte, masked or not, with any length in its head. */
const frames = fc
  .tuple(
    fc.integer({ min: 0, max: 255 }),
    fc.boolean(),
    fc.integer({ min: 0, max: 127 }),
    fc.uint8Array({ maxLength: 200 }),
  )
  .map(([first, masked, length, payload]) => Buffer.from([first, (masked ? 0x80 : 0) | length, ...payload]))

const rawOf = ({ socket }: SocketClient) =>
  (socket as unknown as { _socket: { write(bytes: Buffer): void; destroyed: boolean } })._socket

it('survives a thousand odd frames and messages, and serves on', async () => {
  await using service = await startSocketService()
  const faults: unknown[] = []
  service.gateway.gateway.hooks.fault.tap('test', (error) => void faults.push(error))
  let client = await service.connect()
  for (const text of fc.sample(texts, { numRuns: 500, seed: 7 })) {
    service.provider.script({ text: 'ok' })
    client.send(text)
  }
  client.create('end of the first half')
  await until(() => service.provider.creates.some(({ input }) => input === 'end of the first half'))
  for (const bytes of fc.sample(frames, { numRuns: 500, seed: 8 })) {
    if (client.socket.readyState !== client.socket.OPEN || rawOf(client).destroyed) client = await service.connect()
    rawOf(client).write(bytes)
    await new Promise(setImmediate)
  }
  const other = await service.connect()
  other.create('still there')
  assert.equal((await other.end()).type, 'response.completed')
  assert.deepEqual(faults, [])
})

it('passes a thousand odd messages of an upstream as they are', async () => {
  await using service = await startSocketService()
  const faults: unknown[] = []
  service.gateway.gateway.hooks.fault.tap('test', (error) => void faults.push(error))
  const client = await service.connect()
  const types = [
    'response.created',
    'response.completed',
    'response.incomplete',
    'error',
    'response.output_item.done',
    'x',
    7,
  ]
  const events = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.json(),
    fc
      .record({
        type: fc.constantFrom<unknown>(...types),
        stream_id: fc.option(fc.constantFrom<unknown>('a', 'b', 1), { nil: undefined }),
        response: fc.oneof(
          fc.jsonValue(),
          fc.record({ id: fc.constantFrom<unknown>('r', 's', 1), usage: fc.jsonValue() }),
        ),
        status: fc.jsonValue(),
        error: fc.jsonValue(),
      })
      .map((value) => JSON.stringify(value)),
  )
  service.provider.script({ messages: [] })
  client.create('Hello')
  await until(() => service.provider.creates.length === 1)
  const sent = fc.sample(events, { numRuns: 1_000, seed: 9 })
  for (const event of sent) service.provider.last.send(event)
  for (const event of sent) assert.equal(String(await client.nextBytes()), Buffer.from(event).toString())
  assert.deepEqual(faults, [])
})
