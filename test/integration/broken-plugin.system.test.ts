import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { type ChildGateway, sourceProgram, startChildGateway } from '../kit/child-gateway.ts'
import { type FakeProvider, fakeProvider } from '../kit/provider.ts'

/** What plugins do that no compiler has looked at, by the model that a request names. */
const source = `
import { createReadStream } from 'node:fs'
import { connect } from 'node:net'
import { GuardError } from '${import.meta.resolve('guard-gateway/core')}'
const refuse = (...place) => { throw new GuardError(...place) }
const thrown = {
  unknown: () => refuse('MODEL_NOT_ALLOWED', 'This model is not for you.'),
  textless: () => refuse('MODEL_NOT_ALLOWED'),
  inherited: () => refuse('constructor', 'Not you.'),
  nothing: () => refuse(undefined, 'Nothing.'),
  header: () => refuse('INVALID_REQUEST', 'No.', { headers: { 'x-odd': 'one\\r\\ntwo: 3' } }),
  unprintable: () => refuse('INVALID_REQUEST', 'No.', { known: [1n] }),
  undefined: () => { throw undefined },
  bare: () => { throw Object.create(null) },
  timer: () => { setTimeout(() => refuse('TIMER_CODE')) },
  floating: () => { Promise.reject(new Error('floating')) },
  floating_nothing: () => { Promise.reject() },
  file: () => { createReadStream('/no/such/file') },
  socket: () => { connect(1, '127.0.0.1') },
  fetch: () => { fetch('http://127.0.0.1:1/') },
  unshowable: () => { setTimeout(() => { throw Object.defineProperty(new Error('x'), 'message', { get() { throw 1 } }) }) },
}
const decided = {
  reason: { decision: 'block', reason: 'a\\nb' },
  status: { decision: 'block', reason: 'ODD', status: 99999 },
  absent: undefined,
}
const tapped = (hook, act) => (first, call) => {
  const model = (call ?? first).envelope.model
  const [where, what] = model.split('-')
  if (where === hook) return act(what, first)
  return hook === 'decision' ? first : undefined
}
export const broken = {
  name: 'broken',
  apply({ hooks, health }) {
    health.set('broken', () => ({ status: 'ok', count: 1n }))
    hooks.request.tapPromise('broken', async (call) => tapped('request', (what) => thrown[what]())(call))
    hooks.decision.tapPromise({ name: 'broken', stage: 100 }, async (decision, call) =>
      tapped('decision', (what) => (what in decided ? decided[what] && { ...decision, ...decided[what] } : thrown[what]()))(decision, call))
    hooks.forward.tapPromise({ name: 'broken', stage: -100 }, async (call) => tapped('forward', (what) => thrown[what]())(call))
    hooks.settle.tapPromise('broken', async ({ call }) => tapped('settle', (what) => thrown[what]())(call))
    hooks.http.tap('broken', (app) => {
      app.get('/api/broken', () => refuse('ROUTE_CODE', 'A route said so.'))
      app.get('/api/broken-bare', () => { throw Object.create(null) })
      app.get('/api/broken-undefined', () => { throw undefined })
      app.get('/api/broken-null', async () => { throw null })
    })
  },
}
`

describe('a plugin that no compiler has looked at', () => {
  let folder = ''
  let provider: FakeProvider
  let gateway: ChildGateway
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-broken-'))
    await writeFile(join(folder, 'broken.mjs'), source)
    provider = await fakeProvider()
    gateway = await startChildGateway(folder, provider.url, 'plugins: [./broken.mjs]', 0, {}, sourceProgram)
  })
  after(async () => {
    await provider[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  const ask = async (model: string) => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model, messages: [{ role: 'user', content: `for ${model}` }] }),
      headers: { 'content-type': 'application/json', 'x-guard-key': gateway.key },
    })
    return { status: response.status, error: ((await response.json()) as { error?: Record<string, string> }).error }
  }

  for (const hook of ['request', 'decision', 'forward'])
    it(`answers 500 with the name of a code that there is not, thrown in "${hook}"`, async () => {
      for (const [what, code, message] of [
        ['unknown', 'MODEL_NOT_ALLOWED', /^This model is not for you\.$/],
        ['textless', 'MODEL_NOT_ALLOWED', /no error code MODEL_NOT_ALLOWED/],
        ['inherited', 'constructor', /^Not you\.$/],
        ['nothing', 'undefined', /^Nothing\.$/],
      ] as const) {
        const { status, error } = await ask(`${hook}-${what}`)
        assert.deepEqual([status, error?.code], [500, code], what)
        assert.match(error?.message ?? '', message)
      }
      assert.match(gateway.said(), new RegExp(`"fault":"${hook}:broken","code":"MODEL_NOT_ALLOWED"`))
    })
  it('is answered for whatever it throws', async () => {
    for (const what of ['header', 'unprintable', 'undefined', 'bare'])
      for (const hook of ['request', 'decision', 'forward']) {
        const { status, error } = await ask(`${hook}-${what}`)
        assert.ok(status >= 500 && error !== undefined, `${hook}-${what}: ${status}`)
      }
  })
  it('is answered for a decision that cannot be sent', async () => {
    for (const what of ['reason', 'status']) {
      const { status, error } = await ask(`decision-${what}`)
      assert.deepEqual([status, error?.code], [500, 'INTERNAL'], what)
    }
    assert.equal((await ask('decision-absent')).status, 200, 'who decides nothing lets the decision before stand')
  })
  it('does not touch the reply once that has begun', async () => {
    for (const what of ['unknown', 'undefined', 'bare']) assert.equal((await ask(`settle-${what}`)).status, 200, what)
  })
  it('that throws in a timer or a promise of its own is named, and the gateway goes on', async () => {
    for (const [what, said] of [
      ['timer', 'no error code TIMER_CODE'],
      ['floating', 'Error: floating'],
      ['floating_nothing', '"message":"undefined"'],
    ] as const) {
      assert.equal((await ask(`request-${what}`)).status, 200, what)
      // the fault is told before anything that is asked for later is answered
      assert.equal((await ask('calm')).status, 200)
      const lines = gateway.said().split('\n')
      assert.ok(
        lines.some((line) => /"fault":"[^"]*broken\.mjs"/.test(line) && line.includes(said)),
        what,
      )
    }
  })
  it('has routes that fail as those of the gateway do', async () => {
    const coded = await fetch(`${gateway.url}/api/broken`)
    assert.equal(coded.status, 500)
    assert.deepEqual(((await coded.json()) as { error: unknown }).error, {
      type: 'api_error',
      code: 'ROUTE_CODE',
      message: 'A route said so.',
    })
    for (const what of ['bare', 'undefined', 'null']) {
      const bare = await fetch(`${gateway.url}/api/broken-${what}`)
      const { error } = (await bare.json()) as { error?: { code?: string } }
      assert.deepEqual([bare.status, error?.code], [500, 'INTERNAL'], what)
    }
  })
  it('that ends a stream or a connection with an error nobody hears is told, and the gateway goes on', async () => {
    for (const [what, said] of [
      ['file', 'ENOENT'],
      ['socket', 'ECONNREFUSED'],
      ['fetch', 'fetch failed'],
      ['unshowable', 'something that cannot be shown'],
    ] as const) {
      assert.equal((await ask(`request-${what}`)).status, 200, what)
      while (
        !gateway
          .said()
          .split('\n')
          .some((line) => /"fault":"[^"]*broken\.mjs"/.test(line) && line.includes(said))
      )
        assert.equal((await ask('calm')).status, 200, what)
    }
  })
  it('is named in health where what it tells there has no JSON form', async () => {
    const health = await fetch(`${gateway.url}/api/health`)
    const { status, broken } = (await health.json()) as { status: string; broken: unknown }
    assert.deepEqual([health.status, status, broken], [200, 'degraded', { status: 'unknown' }])
    assert.match(gateway.said(), /"fault":"health:broken"/)
  })
  it('leaves the gateway able to end as it should', async () => {
    assert.equal((await fetch(`${gateway.url}/api/health`)).status, 200)
    assert.deepEqual(await gateway.end('SIGTERM'), [0, null])
  })
})

describe('a plugin with a route that another one has', () => {
  it('stops the start, and both are named', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-broken-'))
    await writeFile(join(folder, 'clash.mjs'), clash)
    await assert.rejects(
      startChildGateway(folder, 'http://127.0.0.1:9', 'plugins: [./clash.mjs]', 0, {}, sourceProgram),
      /The plugins "mine" \(.*\/clash\.mjs\) and "ui" both declare the route GET \/replay\/?\. .*\(DUPLICATE\)/,
    )
    await rm(folder, { recursive: true })
  })
})

const clash = `export const mine = {
  name: 'mine',
  apply({ hooks }) { hooks.http.tap('mine', (app) => { app.get('/replay', () => 'mine') }) },
}`

describe('a plugin that throws in a timer beside "guard mcp run"', () => {
  it('is named to the person, and the server goes on being served', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-broken-'))
    await writeFile(join(folder, 'timer.mjs'), timer)
    await writeFile(join(folder, 'guard-config.yml'), config, { mode: 0o600 })
    const words = ['mcp', 'run', '--server-id', 'child', '--', process.execPath, ...sourceProgram.slice(0, -1), server]
    const child = spawn(process.execPath, [...sourceProgram, ...words], {
      cwd: folder,
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, HOME: folder },
    })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const said = text(child.stderr)
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize })}\n`)
    assert.equal(JSON.parse((await lines.next()).value ?? '').id, 1)
    const closed = once(child, 'close')
    child.stdin.end()
    assert.deepEqual(await closed, [0, null])
    assert.match(await said, /^\[guard\] \S*timer\.mjs has failed, and the proxy goes on: Error: in a timer$/m)
    await rm(folder, { recursive: true })
  })
})

const timer = `export const timer = {
  name: 'timer',
  apply({ hooks }) {
    hooks.open.tapPromise('timer', async () => void setTimeout(() => { throw new Error('in a timer') }))
  },
}`
const config = 'gateway_key: guard_test_key_of_a_child_process\nplugins: [./timer.mjs]\n'
const server = join(import.meta.dirname, '../kit/mcp-child.ts')
const initialize = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
}
