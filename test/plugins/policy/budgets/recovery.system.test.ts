import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { startGateway } from 'guard-gateway/test'
import { type ChildGateway, startChildGateway } from '../../../kit/child-gateway.ts'
import { type FakeProvider, fakeProvider } from '../../../kit/provider.ts'

/** Never ends while a test runs. */
const monthly = (threshold: number, more: object = {}) => ({
  rule_type: 'max_requests',
  threshold,
  params: { scope: 'project', per: 'month', ...more },
})

let provider: FakeProvider
let folder = ''
before(async () => {
  provider = await fakeProvider()
  folder = await mkdtemp(join(tmpdir(), 'guard-budgets-'))
})
after(async () => {
  await provider.close()
  await rm(folder, { recursive: true, force: true })
})

type Ask = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Response>

const asking =
  ({ url, key }: { readonly url: string; readonly key: string }): Ask =>
  (method, path, body, headers = {}) =>
    fetch(url + path, {
      method,
      headers: {
        'x-guard-key': key,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })

let sent = 0
/** A request of a session of its own; what became of it. */
const send = async (ask: Ask, project: string, more: Readonly<Record<string, string>> = {}) => {
  const content = `task ${++sent}`
  const body = { model: 'm-1', messages: [{ role: 'user', content }] }
  const answer = await ask('POST', '/v1/chat/completions', body, {
    'x-guard-session-id': `window-${sent}`,
    'x-guard-project-id': project,
    ...more,
  })
  const { error } = (await answer.json()) as { readonly error?: { readonly code: string } }
  return error?.code ?? answer.status
}

const times = async (count: number, work: () => Promise<unknown>) => {
  for (let n = 0; n < count; n++) await work()
}

describe('budgets beyond a session, over a database', () => {
  it('count what was used before a kill, of every project and agent', async (context) => {
    const place = await mkdtemp(join(folder, 'killed-'))
    let running: ChildGateway | undefined
    context.after(() => running?.end('SIGKILL'))
    const start = async () => {
      running = await startChildGateway(place, provider.url, 'budgets: { time_zone: Europe/Berlin }')
      return { ...running, ask: asking(running) }
    }
    const first = await start()
    const rules = [
      monthly(5),
      { ...monthly(3, { scope: 'agent' }), id: 'each' },
      { ...monthly(5000), rule_type: 'max_tokens', id: 'tokens' },
    ]
    assert.equal((await first.ask('PUT', '/api/policies/shop', { mode: 'enforce', rules })).status, 200)
    await times(3, async () => assert.equal(await send(first.ask, 'shop', { 'x-guard-agent-id': 'builder' }), 200))
    assert.equal(await send(first.ask, 'shop'), 200)
    await times(2, async () => assert.equal(await send(first.ask, 'bakery'), 200))
    await first.end('SIGKILL')
    const { ask } = await start()
    assert.equal(await send(ask, 'shop', { 'x-guard-agent-id': 'builder' }), 'LIMIT_REQUESTS')
    assert.equal(await send(ask, 'shop'), 200)
    assert.equal(await send(ask, 'shop'), 'LIMIT_REQUESTS')
    assert.equal(await send(ask, 'bakery'), 200)
  })

  const started = async (context: TestContext, own: string) => {
    const gateway = await startGateway({
      upstream: provider.url,
      backend: 'sqlite',
      folder: own,
      config: 'budgets: { time_zone: UTC }',
    })
    context.after(() => gateway.close())
    return { gateway, ask: asking(gateway) }
  }

  it('count what came before the rule did, and each request once that is in progress then', async (context) => {
    const { ask } = await started(context, await mkdtemp(join(folder, 'late-')))
    await times(4, async () => assert.equal(await send(ask, 'shop'), 200))
    const held = Promise.withResolvers<void>()
    provider.script({ until: held.promise }, { until: held.promise })
    const arrived = [provider.next(), provider.next()]
    const under = [send(ask, 'shop'), send(ask, 'shop')]
    await Promise.all(arrived)
    await ask('PUT', '/api/policies/shop', { mode: 'enforce', rules: [monthly(8)] })
    // those in progress were decided before the rule was set, and count once they end
    assert.equal(await send(ask, 'shop'), 200)
    held.resolve()
    assert.deepEqual(await Promise.all(under), [200, 200])
    assert.equal(await send(ask, 'shop'), 200)
    assert.equal(await send(ask, 'shop'), 'LIMIT_REQUESTS')
  })

  it('count each request once whose end meets the reading, however many', async (context) => {
    const { ask } = await started(context, await mkdtemp(join(folder, 'meet-')))
    await ask('PUT', '/api/policies/other', { mode: 'enforce', rules: [monthly(1000, { scope: 'agent', per: 'day' })] })
    await send(ask, 'other')
    const rounds = 6
    for (let round = 0; round < rounds; round++) {
      const project = `shop-${round}`
      const running = Array.from({ length: 24 }, async (_, n) => {
        await setTimeout(n)
        return send(ask, project)
      })
      await setTimeout(round * 4)
      await ask('PUT', `/api/policies/${project}`, { mode: 'enforce', rules: [monthly(30)] })
      const forwarded = (await Promise.all(running)).filter((status) => status === 200).length
      let more = 0
      while ((await send(ask, project)) === 200) more++
      assert.equal(forwarded + more, 30, `round ${round}`)
    }
  })

  it('forward exactly so many of 200 at once over HTTP, also in the first moment after a restart', async (context) => {
    const own = await mkdtemp(join(folder, 'at-once-'))
    const first = await started(context, own)
    await first.ask('PUT', '/api/policies/shop', { mode: 'enforce', rules: [monthly(40)] })
    await times(7, () => send(first.ask, 'shop'))
    await first.gateway.close()
    const { ask } = await started(context, own)
    const before = provider.requests.length
    const told = await Promise.all(Array.from({ length: 200 }, () => send(ask, 'shop')))
    assert.equal(told.filter((status) => status === 200).length, 33)
    assert.equal(told.filter((status) => status === 'LIMIT_REQUESTS').length, 167)
    assert.equal(provider.requests.length - before, 33)
  })
})
