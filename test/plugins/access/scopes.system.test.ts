import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { classifiedRoutes, classifiedScope } from '../../../plugins/http/admission/route-scopes.ts'
import { onEachBackend } from '../../kit/backends.ts'
import { GATEWAY_KEY, type Remote, remote } from './kit.ts'
import { routesOf } from './routes.ts'

const filled = (url: string): string => url.replaceAll(/:\w+/g, 'x').replace(/\*$/, 'x')

describe('every registered route', () => {
  it('is classified in the table, and the table names no route that is not there', async () => {
    const routes = await routesOf()
    const others = ['TRACE', 'PATCH', 'PUT', 'QUERY']
    const open = routes.filter(
      ({ method, url }) =>
        classifiedScope(method, url) === undefined && !(url === '/mcp/:server_id' && others.includes(method)),
    )
    assert.deepEqual(open, [], 'name the scope of a new route in plugins/http/admission/route-scopes.ts')
    assert.ok(routes.length > 200)
    const known = new Set(routes.map(({ method, url }) => `${method} ${url}`))
    const later = ['GET /livez', 'GET /readyz']
    const gone = classifiedRoutes.filter((route) => !route.endsWith('*') && !known.has(route) && !later.includes(route))
    assert.deepEqual(gone, [])
  })
})

onEachBackend('a gateway beyond loopback', (backend) => {
  let running: Remote
  before(async () => {
    running = await remote({ backend })
  })
  after(() => running[Symbol.asyncDispose]())

  const open =
    /^(?:GET \/api\/(?:hello|health)|HEAD \/(?:api\/(?:hello|health)|login)?|GET \/login|POST \/log(?:in|out)|(?:GET|HEAD) \/ui\/assets\/.*)$/

  it('serves no route without a key, but for those that are open', async () => {
    const closed = (await routesOf()).filter(
      ({ method, url }) =>
        !['TRACE', 'QUERY', 'OPTIONS'].includes(method) &&
        !open.test(`${method} ${url.replace(/\/ui\/assets\/\w+\//, '/ui/assets/x/')}`),
    )
    for (const { method, url } of closed) {
      const body = method === 'GET' || method === 'HEAD' ? {} : { body: {} }
      const { status, text } = await running.ask(filled(url), { method, ...body })
      // of routes of commands this gateway has none; HEAD has no body to tell
      const isRefused = status === 401 || (status === 404 && (method === 'HEAD' || text.includes('"NOT_FOUND"')))
      assert.ok(isRefused, `${method} ${url}: ${status} ${text}`)
    }
  })
  it('tells its state to anybody, and details to those who may read', async () => {
    const stranger = await running.ask('/api/health')
    assert.deepEqual(Object.keys(stranger.json).sort(), ['plugins', 'status', 'uptime_seconds', 'version'])
    assert.deepEqual(stranger.json.plugins, [])
    const { key } = await running.key(['read'])
    assert.ok('storage' in (await running.ask('/api/health', { key })).json)
  })
  it('takes a key for what it is for, and nothing else', async () => {
    const read = await running.key(['read'])
    const operate = await running.key(['operate'])
    const admin = await running.key(['admin'])
    const cases: readonly (readonly [string, string, string, number])[] = [
      [read.key, 'GET', '/api/sessions', 200],
      [read.key, 'GET', '/metrics', 200],
      [read.key, 'POST', '/api/sessions/none/pause', 403],
      [read.key, 'GET', '/api/keys', 403],
      [operate.key, 'GET', '/api/sessions', 403],
      [operate.key, 'POST', '/api/sessions/none/pause', 404],
      [operate.key, 'PUT', '/api/policies/shop', 403],
      [operate.key, 'DELETE', '/api/policies/shop', 403],
      [read.key, 'DELETE', '/api/policies/shop', 403],
      [admin.key, 'DELETE', '/api/policies/shop', 404],
      [admin.key, 'GET', '/api/keys', 200],
      [admin.key, 'POST', '/api/sessions/none/pause', 404],
      [GATEWAY_KEY, 'GET', '/api/sessions', 403],
      [GATEWAY_KEY, 'POST', '/api/v1/traces', 201],
      [read.key, 'POST', '/api/v1/traces', 403],
    ]
    for (const [key, method, path, status] of cases) {
      const answer = await running.ask(path, { key, method, ...(method === 'GET' ? {} : { body: {} }) })
      assert.equal(answer.status, status, `${method} ${path}: ${answer.text}`)
    }
  })
  it('names the scope that is missing', async () => {
    const { key } = await running.key(['read'])
    const { text } = await running.ask('/api/keys', { key })
    assert.match(text, /"SCOPE_REQUIRED"/)
    assert.match(text, /scope \\"admin\\"; this one has read/)
  })
  it('serves models, MCP and ingest to a key with that scope alone', async () => {
    const models = await running.key(['models'])
    const ingest = await running.key(['ingest'])
    const mcp = await running.key(['mcp'])
    const message = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] }
    const status = async (key: string, path: string, body: unknown) =>
      (await running.ask(path, { method: 'POST', key, body })).status
    // nothing is behind it: the key was taken
    assert.equal(await status(models.key, '/v1/messages', message), 404)
    assert.equal(await status(ingest.key, '/v1/messages', message), 403)
    assert.equal(await status(ingest.key, '/v1/traces', {}), 200)
    assert.equal(await status(models.key, '/v1/traces', {}), 403)
    assert.equal(await status(mcp.key, '/mcp/none', {}), 404)
    assert.equal(await status(models.key, '/mcp/none', {}), 403)
  })
})

describe('a gateway on loopback', () => {
  it('asks nobody for a key', async () => {
    await using running = await remote({ host: '127.0.0.1' })
    for (const path of ['/', '/api/sessions', '/metrics', '/api/keys', '/api/v1/audit', '/docs'])
      assert.equal((await running.ask(path)).status, 200, path)
    const page = await running.ask('/')
    assert.doesNotMatch(page.text, /Log out/)
    assert.match((await running.ask('/login')).text, /Nobody needs to/)
  })
})

describe('the approver key', () => {
  it('operates, and is asked for no second time where a key may operate', async () => {
    await using running = await remote({ config: 'mcp: { approver_key: approver_key_of_the_tests }\n' })
    const { key } = await running.key(['operate'])
    const path = '/api/sessions/none/resume'
    const of = async (headers: Record<string, string>) => (await running.ask(path, { method: 'POST', headers })).status
    assert.equal(await of({ 'x-guard-approver-key': 'approver_key_of_the_tests' }), 404)
    assert.equal(await of({ authorization: 'Bearer approver_key_of_the_tests' }), 404)
    assert.equal(await of({ authorization: `Bearer ${key}` }), 404)
    assert.equal(await of({ 'x-guard-approver-key': 'another' }), 401)
    assert.match((await running.ask(path, { method: 'POST' })).text, /"KEY_REQUIRED"/)
    assert.match((await running.ask(path, { method: 'POST', key: 'another' })).text, /"KEY_REFUSED"/)
  })
})
