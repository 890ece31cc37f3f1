import assert from 'node:assert/strict'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, it } from 'node:test'
import { sha256 } from '#lib/ids'
import { onEachBackend } from '../../kit/backends.ts'
import { type Answer, GATEWAY_KEY, type Remote, remote } from './kit.ts'

const HTML = { accept: 'text/html' }
const BROWSER = { ...HTML, 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

const login = ({ ask }: Remote, key: string, more: Record<string, string> = {}): Promise<Answer> =>
  ask('/login', { method: 'POST', body: new URLSearchParams({ key, ...more }), headers: HTML })

const cookieIn = ({ headers }: Answer): string => headers.get('set-cookie')?.split(';')[0] ?? ''

onEachBackend('the login', (backend) => {
  let running: Remote
  let key = ''
  let id = ''
  before(async () => {
    running = await remote({ backend })
    ;({ key, id } = await running.key(['read', 'operate'], undefined, 'Ada'))
  })
  after(() => running[Symbol.asyncDispose]())

  it('is where a browser is sent that asks for a page', async () => {
    const { status, headers } = await running.ask('/sessions?paused=true', { headers: BROWSER })
    assert.equal(status, 303)
    assert.equal(headers.get('location'), `/login?next=${encodeURIComponent('/sessions?paused=true')}`)
    assert.equal((await running.ask('/sessions')).status, 401)
    assert.equal((await running.ask('/api/v1/mcp/export', { headers: HTML })).status, 303)
  })
  it('shows a page that tells nothing of the gateway and needs no script', async () => {
    const { status, text, headers } = await running.ask('/login?next=/sessions', { headers: BROWSER })
    assert.equal(status, 200)
    assert.match(
      text,
      /<form class="login" method="post" action="\/login"><input type="hidden" name="next" value="\/sessions">/,
    )
    assert.doesNotMatch(text, /<script|<nav|v0\.|shadow/)
    assert.equal(headers.get('x-frame-options'), 'DENY')
    assert.equal(headers.get('cache-control'), 'no-store')
  })
  it('turns a key into a cookie that opens pages, and goes where one wanted to', async () => {
    const answer = await login(running, key, { next: '/sessions?paused=true' })
    assert.equal(answer.status, 303)
    assert.equal(answer.headers.get('location'), '/sessions?paused=true')
    const set = answer.headers.get('set-cookie') ?? ''
    assert.match(set, /^guard_login=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=604800$/)
    assert.ok(!set.includes(key))
    const cookie = cookieIn(answer)
    const page = await running.ask('/', { headers: { ...BROWSER, cookie } })
    assert.equal(page.status, 200)
    assert.match(page.text, /<bdi>Ada<\/bdi>/)
    assert.match(page.text, /<form method="post" action="\/logout">/)
    const value = cookie.split('=')[1] ?? ''
    assert.equal((await running.gateway.storage.get('logins', sha256(value)))?.key_id, id)
    assert.equal(await running.gateway.storage.get('logins', value), undefined)
  })
  it('is sent by TLS alone where it came by TLS', async () => {
    const headers = { ...HTML, 'x-forwarded-proto': 'https' }
    const answer = await running.ask('/login', { method: 'POST', body: new URLSearchParams({ key }), headers })
    assert.match(answer.headers.get('set-cookie') ?? '', /; Secure$/)
  })
  it('goes to no other site', async () => {
    for (const next of [
      '//evil.example',
      'https://evil.example',
      '/\\evil.example',
      '/login',
      '/logout',
      'javascript:1',
    ])
      assert.equal((await login(running, key, { next })).headers.get('location'), '/', next)
  })
  it('lets do what its key is for', async () => {
    const cookie = cookieIn(await login(running, key))
    const post = (path: string) =>
      running.ask(path, { method: 'POST', body: new URLSearchParams(), headers: { ...HTML, cookie } })
    assert.equal((await post('/ui/sessions/none/pause')).status, 404)
    assert.equal((await post('/ui/policies/shop')).status, 403)
    const keys = await running.ask('/api/keys', { headers: { cookie } })
    assert.match(keys.text, /"SCOPE_REQUIRED"/)
  })
  it('takes no request of another site, though the cookie comes along', async () => {
    const cookie = cookieIn(await login(running, key))
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
      const body = new URLSearchParams()
      const answer = await running.ask('/ui/sessions/none/pause', {
        method: 'POST',
        body,
        headers: { cookie, ...headers },
      })
      assert.equal(answer.status, 403, answer.text)
      assert.match(answer.text, /"ORIGIN_NOT_ALLOWED"/)
    }
  })
  it('finds the way of links from elsewhere, which come without the cookie', async () => {
    const headers = { ...BROWSER, 'sec-fetch-site': 'cross-site' }
    // fetch says of itself that it is no navigation
    const answer = await new Promise<IncomingMessage>((resolve) =>
      get(`${running.url}/sessions?a=1&b=2`, { headers }, resolve),
    )
    assert.equal(answer.statusCode, 200)
    const body = await text(answer)
    assert.match(body, /<meta http-equiv="refresh" content="0;url=\/sessions\?a=1&amp;b=2">/)
  })
  it('ends by the button, for the value that it had', async () => {
    const cookie = cookieIn(await login(running, key))
    const answer = await running.ask('/logout', {
      method: 'POST',
      body: new URLSearchParams(),
      headers: { ...HTML, cookie },
    })
    assert.equal(answer.headers.get('location'), '/login')
    assert.match(answer.headers.get('set-cookie') ?? '', /^guard_login=; .*Max-Age=0/)
    assert.equal((await running.ask('/', { headers: { ...BROWSER, cookie } })).status, 303)
  })
  it('ends with its key, at once', async () => {
    const other = await running.key(['read'])
    const cookie = cookieIn(await login(running, other.key))
    const see = async () => (await running.ask('/', { headers: { ...BROWSER, cookie } })).status
    assert.equal(await see(), 200)
    const { key: admin } = await running.key(['admin'])
    await running.ask(`/api/keys/${other.id}`, { method: 'DELETE', key: admin })
    assert.equal(await see(), 303)
  })
  it('refuses what is no key for it, and says why', async () => {
    const ingest = await running.key(['ingest'])
    for (const [given, told] of [
      ['', /Type or paste a key/],
      ['gak_unknown', /unknown, revoked or expired/],
      [GATEWAY_KEY, /for agents and other programs/],
      [ingest.key, /no scope read/],
    ] as const) {
      const { status, text, headers } = await login(running, given)
      assert.equal(status, 401)
      assert.match(text, told)
      assert.ok(given === '' || !text.includes(given))
      assert.equal(headers.get('set-cookie'), null)
    }
  })
  it('is on record, with those that failed, and counted', async () => {
    await login(running, 'wrong')
    await login(running, key)
    const { key: admin } = await running.key(['admin'])
    const actions = async (action: string) => {
      const { json } = await running.ask(`/api/v1/audit?action=${action}`, { key: admin })
      return (json.entries as readonly { actor: string; details: object }[]).map(({ actor, details }) => ({
        actor,
        details,
      }))
    }
    assert.deepEqual((await actions('login'))[0], { actor: 'Ada', details: { address: '127.0.0.1' } })
    assert.deepEqual((await actions('login.failed'))[0], { actor: 'unknown', details: { address: '127.0.0.1' } })
    assert.match(
      (await running.ask('/metrics', { key: admin })).text,
      /guard_refused_credentials_total\{kind="login"\} [1-9]/,
    )
  })
})
