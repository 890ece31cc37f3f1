import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ask, chatBody, jsonOf, KEY, type Started, type StartOptions, start } from '../kit.ts'
import { everyClass } from '../routes.ts'

describe('web origins', () => {
  let running: Started
  before(async () => {
    running = await start({ plugins: [everyClass] })
  })
  after(() => running[Symbol.asyncDispose]())

  const own = (): string => `http://127.0.0.1:${running.port}`
  const answer = async (path: string, headers: Record<string, string>, method = 'POST') => {
    const key = path.startsWith('/mcp/') || path === '/v1/traces' ? KEY : null
    return (await ask(running.port, { method, path, headers, key, ...(method === 'POST' ? { body: {} } : {}) })).status
  }
  const local = ['/api/things', '/api/v1/mcp/servers', '/replay', '/api/things/1']

  it('are the same as ours, or none', async () => {
    for (const path of local) {
      assert.equal(await answer(path, {}), 200)
      assert.equal(await answer(path, { origin: own() }), 200)
      assert.equal(await answer(path, { origin: own(), 'sec-fetch-site': 'same-origin' }), 200)
      assert.equal(await answer(path, { 'sec-fetch-site': 'none' }), 200)
    }
  })
  for (const headers of [
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:1' },
    { origin: 'https://127.0.0.1' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]) {
    it(`refuse ${JSON.stringify(headers)} for every method`, async () => {
      for (const path of local)
        for (const method of ['GET', 'POST']) {
          assert.equal(await answer(path, headers, method), 403, path)
        }
    })
  }
  it('are refused by name', async () => {
    const got = await ask(running.port, { path: '/api/things', key: null, headers: { origin: 'null' }, body: {} })
    assert.deepEqual([jsonOf(got).error.code, jsonOf(got).error.type], ['ORIGIN_NOT_ALLOWED', 'permission_error'])
  })
  it('are told on MCP routes where they could be listed', async () => {
    for (const [path, key, hint] of [
      ['/mcp/files', KEY, true],
      ['/api/v1/mcp/servers', null, true],
      ['/api/things', null, false],
    ] as const) {
      const got = await ask(running.port, { path, key, headers: { origin: 'http://app.example' }, body: {} })
      assert.equal(/mcp\.allowed_origins/.test(String(jsonOf(got).error.message)), hint, path)
    }
  })
  it('refuse a foreign fetch site even beside our own origin', async () => {
    assert.equal(await answer('/api/things', { origin: own(), 'sec-fetch-site': 'cross-site' }), 403)
  })
  it('let a followed link into pages and exports, not into data', async () => {
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    assert.equal(await answer('/replay', link, 'GET'), 200)
    assert.equal(await answer('/api/export/all.csv', link, 'GET'), 200)
    assert.equal(await answer('/api/things', link, 'GET'), 403)
    assert.equal(await answer('/replay', link, 'POST'), 403)
    assert.equal(await answer('/replay', { ...link, 'sec-fetch-dest': 'iframe' }, 'GET'), 403)
  })
  it('are not judged where a key is the proof', async () => {
    const headers = { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' }
    assert.equal((await ask(running.port, { headers, body: chatBody })).status, 200)
    assert.equal(await answer('/v1/traces', headers), 200)
  })
  it('of this machine may use the MCP transport by default, others not', async () => {
    for (const origin of [own(), `http://localhost:${running.port}`, `http://[::1]:${running.port}`]) {
      assert.equal(await answer('/mcp/files', { origin }), 200)
    }
    for (const origin of ['http://evil.example', 'null', `http://127.0.0.1:${running.port + 1}`]) {
      assert.equal(await answer('/mcp/files', { origin }), 403)
    }
  })
  it('that are listed replace these, also for management', async () => {
    const allowed_origins = ['https://App.example', 'null']
    await using listed = await start({ plugins: [everyClass], mcp: { allowed_origins } })
    const post = async (path: string, origin: string, more = {}) =>
      (await ask(listed.port, { path, headers: { origin, ...more }, body: {} })).status
    assert.equal(await post('/mcp/files', 'https://app.example'), 200)
    assert.equal(await post('/mcp/files', `http://127.0.0.1:${listed.port}`), 403)
    assert.equal(await post('/mcp/files', 'null'), 403)
    assert.equal(await post('/api/v1/mcp/servers', 'https://app.example', { 'sec-fetch-site': 'cross-site' }), 200)
    assert.equal(await post('/api/things', 'https://app.example'), 403)
  })
})

describe('pages behind a proxy that ends TLS', () => {
  const post = async (server: StartOptions['server'], headers: Record<string, string>, path = '/api/things') => {
    await using running = await start({ plugins: [everyClass], ...(server === undefined ? {} : { server }) })
    const got = await ask(running.port, { path, key: path.startsWith('/mcp/') ? KEY : null, headers, body: {} })
    return { status: got.status, message: got.status === 200 ? '' : String(jsonOf(got).error.message) }
  }
  const status = async (...asked: Parameters<typeof post>) => (await post(...asked)).status
  const named = { allowed_hosts: ['Guard.example'] }
  const listed = { allowed_origins: ['https://Guard.example:8443'] }
  const same = { 'sec-fetch-site': 'same-origin' }

  it('have https and the host of the request as their origin where that host is listed', async () => {
    for (const host of ['guard.example', 'GUARD.example', 'guard.example:443'])
      assert.equal(await status(named, { host, origin: 'https://guard.example', ...same }), 200, host)
    const host = 'guard.example:8443'
    assert.equal(await status(named, { host, origin: 'https://guard.example:8443' }), 200)
    assert.equal(await status(named, { host, origin: 'https://guard.example:8443' }, '/api/v1/mcp/servers'), 200)
    assert.equal(await status(named, { host, origin: 'https://guard.example:8443' }, '/replay'), 200)
  })
  it('may be named in letters beyond ASCII', async () => {
    const host = 'xn--bcher-kva.example'
    assert.equal(await status({ allowed_hosts: ['Bücher.example'] }, { host, origin: `https://${host}` }), 200)
  })
  for (const [name, headers] of [
    ['another origin', { host: 'guard.example', origin: 'https://evil.example' }],
    ['another port', { host: 'guard.example', origin: 'https://guard.example:8443' }],
    ['a name below it', { host: 'guard.example', origin: 'https://x.guard.example' }],
    ['a host that is this machine', { host: '127.0.0.1', origin: 'https://127.0.0.1' }],
    ['a host that is not the origin', { host: 'localhost', origin: 'https://guard.example' }],
    ['no origin', { host: 'guard.example', origin: 'null' }],
    ['itself without TLS', { host: 'guard.example', origin: 'http://guard.example', 'x-forwarded-proto': 'https' }],
    ['a foreign site', { host: 'guard.example', origin: 'https://guard.example', 'sec-fetch-site': 'cross-site' }],
    ['a listed host that is attacked by rebinding', { host: 'guard.example', origin: 'http://evil.example' }],
  ] as const)
    it(`are not served to ${name}`, async () => assert.equal(await status(named, headers), 403))
  it('have the origins that are listed, whatever host the proxy names', async () => {
    const origin = 'https://guard.example:8443'
    assert.equal(await status(listed, { origin, ...same }), 200)
    assert.equal(await status(listed, { origin: origin.toUpperCase() }), 200)
    assert.equal(await status(listed, { origin }, '/api/v1/mcp/servers'), 200)
    assert.equal(await status(listed, { origin }, '/mcp/files'), 200)
    assert.equal(await status(listed, { origin: 'https://guard.example' }), 403)
    assert.equal(await status(listed, { origin, 'sec-fetch-site': 'cross-site' }), 403)
    assert.equal(await status(listed, { origin, 'sec-fetch-site': 'cross-site' }, '/api/v1/mcp/servers'), 403)
    assert.equal(await status({ allowed_origins: ['null'] }, { origin: 'null' }), 403)
    // a listed origin makes no host known
    assert.equal(await status(listed, { host: 'guard.example:8443', origin }), 403)
  })
  it('are refused with the key that lets them in', async () => {
    const { message } = await post(undefined, { origin: 'https://guard.example' })
    assert.match(message, /list it in server\.allowed_origins/)
  })
})
