import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Started, startGateway } from '../kit/gateway.ts'
import { rawHttp } from '../kit/raw-http.ts'

const people = `
    header: remote-user
    from: [127.0.0.1]
    groups_header: remote-groups
    scopes: { default: [read], ada: [admin] }
    groups: { oncall: [operate] }
    projects: { default: [shop], ada: [shop, lab] }`
const server = (host: string) => `server:\n  host: ${host}\n  allow_remote: true\n  auth_proxy:${people}`

describe('people whom a proxy in front knows', () => {
  let gateway: Started
  let port = ''
  before(async () => {
    gateway = await startGateway({ config: server('0.0.0.0') })
    ;({ port } = new URL(gateway.url))
    for (const project of ['shop', 'lab', 'other']) {
      const body = { trace_id: `of-${project}`, project_id: project, spans: [{ name: 'x' }] }
      const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/traces`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
      assert.equal(answer.status, 201, await answer.text())
    }
  })
  after(() => gateway.close())

  const ask = async (method: string, path: string, headers: Record<string, string>, body?: object) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...headers, ...type },
      ...sent,
    })
    const text = await answer.text()
    return { status: answer.status, text, location: answer.headers.get('location') }
  }
  const runs = async (headers: Record<string, string>): Promise<readonly string[]> => {
    const { text } = await ask('GET', '/api/v1/runs', headers)
    return (JSON.parse(text) as { runs: { trace_id: string }[] }).runs.map(({ trace_id }) => trace_id).sort()
  }

  it('see the projects that are theirs', async () => {
    assert.deepEqual(await runs({ 'remote-user': 'ada' }), ['of-lab', 'of-shop'])
    assert.deepEqual(await runs({ 'remote-user': 'bob' }), ['of-shop'])
  })

  it('may do what their scopes say, and groups give more', async () => {
    const pin = (headers: Record<string, string>) => ask('POST', '/api/v1/runs/of-shop/pin', headers, {})
    const makeKey = (headers: Record<string, string>) =>
      ask('POST', '/api/keys', headers, { name: 'x', scopes: ['read'] })
    assert.equal((await ask('GET', '/', { 'remote-user': 'bob', accept: 'text/html' })).status, 200)
    for (const act of [pin, makeKey]) assert.equal((await act({ 'remote-user': 'bob' })).status, 403)
    assert.notEqual((await pin({ 'remote-user': 'bob', 'remote-groups': 'staff, oncall' })).status, 403)
    assert.equal((await makeKey({ 'remote-user': 'bob', 'remote-groups': 'staff, oncall' })).status, 403)
  })

  it('are nobody without the header, and the pages ask them to log in', async () => {
    assert.equal((await ask('GET', '/api/v1/runs', {})).status, 401)
    const { status, location } = await ask('GET', '/', { accept: 'text/html' })
    for (const path of ['/livez', '/readyz']) assert.equal((await ask('GET', path, {})).status, 200)
    assert.deepEqual([status, location?.replace(/\?.*/, '')], [303, '/login'])
  })

  it('are refused where two lines name them', async () => {
    const lines = 'remote-user: bob\r\nremote-user: ada\r\n'
    const head = `GET /api/v1/runs HTTP/1.1\r\nhost: localhost\r\n${lines}connection: close\r\n\r\n`
    const { status, body } = await rawHttp(Number(port), head)
    assert.equal(status, 400)
    assert.match(body, /INVALID_HEADER.*must name one person, once/)
  })
})
