// everything that a plugin may contribute, each throwing what JavaScript can throw
import { commandKind } from 'guard-gateway/lib/command'
import { exportFormatKind } from 'guard-gateway/lib/export-format'
import { mcpCheckKind } from 'guard-gateway/lib/mcp-check'
import { notifierKind } from 'guard-gateway/lib/notifier'
import { pageKind, panelKind } from 'guard-gateway/lib/page'

const things = [
  () => new Error('an inner text'),
  () => 'an inner text',
  () => undefined,
  () => null,
  () => Object.freeze(new Error('an inner text')),
  () => Object.create(null),
]
let turn = 0
const fail = () => {
  throw things[turn++ % things.length]()
}
const style = (id, members) => ({
  id,
  paths: [`/broken/${id}`],
  list: 'messages',
  envelope: ({ model = 'm' }) => ({
    model,
    stream: false,
    max_tokens: null,
    temperature: null,
    before: [],
    after: [],
    tools: undefined,
    tool_choice: undefined,
    previous_response_id: null,
    conversation: null,
    hints: {},
  }),
  parts: ({ content }) => [{ kind: 'user', text: String(content) }],
  meter: () => ({
    push() {},
    end: () => ({
      usage: null,
      output_bytes: 0,
      model: null,
      response_id: null,
      finish_reason: null,
      calls: [],
      error: null,
      complete: true,
    }),
  }),
  refusal: ({ code }) => ({ broken: code }),
  ...members,
})
const detector = (id, members) => ({
  id,
  code: `LOOP_${id.toUpperCase()}`,
  version: '1',
  kind: 'loop',
  defaults: { threshold: 1, window_size: 2 },
  detect: () => undefined,
  ...members,
})

export const broken = {
  name: 'broken',
  requires: ['http'],
  apply(gateway) {
    gateway.apiStyles.add(
      style('envelope', { envelope: fail }),
      style('parts', { parts: fail }),
      style('meter', { meter: fail }),
      style('push', { meter: () => ({ push: fail, end: fail }) }),
      style('end', { meter: () => ({ push() {}, end: fail }) }),
      style('refusal', { refusal: fail }),
    )
    gateway.detectors.add(
      detector('broken_detect', { detect: fail }),
      detector('broken_measure', { measure: fail }),
      detector('broken_stream', { stream: fail }),
    )
    gateway.storages.add({ id: 'broken', open: fail })
    gateway.registry(exportFormatKind).add({ id: 'broken', mediaType: 'text/plain', extension: 'txt', writer: fail })
    gateway.registry(mcpCheckKind).add({ id: 'broken', schema: { type: 'object' }, find: fail })
    gateway
      .registry(notifierKind)
      .add({ id: 'broken', schema: { type: 'object' }, connect: () => ({ label: 'broken', send: fail }) })
    gateway.registry(pageKind).add({ id: 'broken', path: '/broken-page', render: fail })
    gateway.registry(panelKind).add({ id: 'broken/panel', order: 1, render: fail })
    gateway.registry(commandKind).add({ id: 'broken', summary: 'fails', run: fail })
    gateway.health.set('broken', fail)
    gateway.hooks.http.tap('broken', (app) => {
      app.get('/api/broken-route', fail)
      app.get('/api/broken-later', async () => fail())
    })
  },
}
