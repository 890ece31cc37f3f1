import assert from 'node:assert/strict'
import { it } from 'node:test'
import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { startSocketService } from './kit.ts'

/** Events of the official client, in order. */
const listen = (socket: ResponsesWS) => {
  const events: { readonly type: string; readonly response?: { readonly id: string } }[] = []
  const errors: Error[] = []
  let arrived = (): void => {}
  socket.on('event', (event) => {
    events.push(event as (typeof events)[number])
    arrived()
  })
  socket.on('error', (error) => {
    errors.push(error)
    arrived()
  })
  return {
    errors,
    next: async (isIt: () => boolean) => {
      while (!isIt())
        await new Promise<void>((resolve) => {
          arrived = resolve
        })
    },
    completed: () => events.filter(({ type }) => type === 'response.completed'),
  }
}

it('is served to the official client: chained turns, a block, and turns after it', async () => {
  await using service = await startSocketService()
  await service.policy({ mode: 'enforce', rules: [{ rule_type: 'exact_repeat', threshold: 2 }] })
  const client = new OpenAI({ baseURL: `${service.gateway.url}/v1`, apiKey: service.gateway.key })
  const socket = new ResponsesWS(client)
  const heard = listen(socket)
  socket.send({ type: 'response.create', model: 'm-1', input: 'one' })
  await heard.next(() => heard.completed().length === 1)
  const previous_response_id = heard.completed()[0]?.response?.id ?? null
  socket.send({ type: 'response.create', model: 'm-1', input: 'two', previous_response_id })
  await heard.next(() => heard.completed().length === 2)
  socket.send({ type: 'response.create', model: 'm-1', input: 'one' })
  await heard.next(() => heard.errors.length === 1)
  assert.match(heard.errors[0]?.message ?? '', /Guard blocked this request/)
  socket.send({ type: 'response.create', model: 'm-1', input: 'three' })
  await heard.next(() => heard.completed().length === 3)
  assert.equal(heard.errors.length, 1)
  assert.equal(service.provider.handshakes.length, 1)
  socket.close()
})

it('is refused to the official client as the upstream refuses it', async () => {
  await using service = await startSocketService()
  service.provider.handshake({ status: 429, headers: { 'retry-after': '9' }, body: '{}' })
  const client = new OpenAI({ baseURL: `${service.gateway.url}/v1`, apiKey: service.gateway.key })
  const socket = new ResponsesWS(client)
  const heard = listen(socket)
  await heard.next(() => heard.errors.length === 1)
  assert.match(heard.errors[0]?.message ?? '', /429/)
})
