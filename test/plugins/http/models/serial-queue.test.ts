import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import Fastify from 'fastify'
import { type ApiStyle, Gateway } from 'guard-gateway/core'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { asFastifyPlugin, http } from 'guard-gateway/plugins/http'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { upstream } from 'guard-gateway/plugins/upstream'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import { foundation } from 'guard-gateway/presets/foundation'
import { injected } from '../../../kit/injected.ts'
import { fakeProvider } from '../../../kit/provider.ts'
import { KEY } from '../kit.ts'

const COUNT = 4

/** The turns of the event loop in which requests of this size were read that came all at once. */
const turnsOf = async (bytes: number): Promise<readonly number[]> => {
  await using provider = await fakeProvider()
  const turns = new Map<unknown, number>()
  let turn = 0
  const noting: ApiStyle = {
    ...messages,
    parts: (element) => {
      const { content } = element as { readonly content: unknown }
      if (!turns.has(content)) turns.set(content, turn)
      return messages.parts(element)
    },
  }
  const gateway = new Gateway().use(
    ...foundation(),
    memory(),
    { name: 'noting', apply: (one) => one.apiStyles.add(noting) },
    http({ gateway_key: KEY }),
    undici,
    upstream({ upstreams: [{ name: 'main', base_url: provider.url, styles: ['messages'] }] }),
  )
  const app = Fastify()
  await app.register(asFastifyPlugin(gateway))
  await app.ready()
  let counting = true
  const count = (): void => {
    turn++
    if (counting) setImmediate(count)
  }
  setImmediate(count)
  const answers = await Promise.all(
    Array.from({ length: COUNT }, (_, index) => {
      const content = `${index}${'x'.repeat(bytes)}`
      const body = { model: 'm', max_tokens: 8, messages: [{ role: 'user', content }] }
      return injected(app, 'POST', '/v1/messages', body, { 'x-api-key': KEY })
    }),
  )
  counting = false
  assert.deepEqual(
    answers.map(({ status }) => status),
    Array.from({ length: COUNT }, () => 200),
  )
  await app.close()
  assert.equal(turns.size, COUNT)
  return [...turns.values()]
}

describe('bodies that come at once', () => {
  it('are read one in each turn of the event loop where they are large', async () => {
    const turns = await turnsOf(100_000)
    assert.equal(new Set(turns).size, COUNT, turns.join())
  })
  it('are read together where they are small', async () => {
    const turns = await turnsOf(1_000)
    assert.equal(new Set(turns).size, 1, turns.join())
  })
})
