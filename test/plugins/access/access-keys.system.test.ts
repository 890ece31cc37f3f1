import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Gateway } from 'guard-gateway/core'
import { newId, newKey, sha256 } from '#lib/ids'
import { onEachBackend } from '../../kit/backends.ts'
import { FakeProvider } from '../../kit/provider.ts'
import { GATEWAY_KEY, type Remote, remote } from './kit.ts'

const opens = async ({ ask }: Remote, key: string): Promise<boolean> =>
  (await ask('/api/sessions', { key })).status === 200

/** What another process writes. */
const writeKey = async ({ storage, clock }: Gateway, more: object = {}): Promise<{ key: string; id: string }> => {
  const key = newKey('gak_')
  const id = newId('akey_', clock.now())
  await storage.put('access_keys', {
    id,
    name: 'elsewhere',
    hash: sha256(key),
    prefix: key.slice(0, 8),
    scopes: ['read'],
    projects: null,
    created_at: clock.now(),
    created_by: 'somebody',
    last_used_at: null,
    expires_at: null,
    revoked_at: null,
    ...more,
  })
  return { key, id }
}

onEachBackend('keys with scopes', (backend) => {
  it('are shown once, listed without what they are, and end at once', async () => {
    await using running = await remote({ backend })
    const admin = await running.key(['admin'], undefined, 'Ada')
    const made = await running.ask('/api/keys', {
      key: admin.key,
      method: 'POST',
      body: { name: 'dashboard', scopes: ['read'], projects: ['shop'], expires_in: '30d' },
    })
    assert.equal(made.status, 201, made.text)
    const { key, access_key } = made.json as { key: string; access_key: Record<string, unknown> }
    assert.match(key, /^gak_[\w-]{43}$/)
    assert.deepEqual(access_key.projects, ['shop'])
    assert.equal(access_key.created_by, 'Ada')
    const days = (Date.parse(String(access_key.expires_at)) - Date.parse(String(access_key.created_at))) / 86_400_000
    assert.equal(Math.round(days), 30)
    assert.equal(await opens(running, key), true)
    const list = await running.ask('/api/keys', { key: admin.key })
    assert.equal(list.text.includes(key), false)
    assert.equal(list.text.includes(sha256(key)), false)
    assert.equal((list.json.keys as readonly { name: string }[]).map(({ name }) => name).join(), 'dashboard,Ada')
    const path = `/api/keys/${access_key.id}`
    assert.equal((await running.ask(path, { key: admin.key, method: 'DELETE' })).status, 204)
    assert.equal(await opens(running, key), false)
    assert.match((await running.ask(path, { key: admin.key, method: 'DELETE' })).text, /"ACCESS_KEY_NOT_FOUND"/)
  })
  it('are bounded in number', async () => {
    await using running = await remote({ backend })
    const { key } = await running.key(['admin'])
    for (let made = 1; made < 1_000; made++) await writeKey(running.gateway)
    await running.gateway.keys.refresh()
    const { text } = await running.ask('/api/keys', { key, method: 'POST', body: { name: 'x', scopes: ['read'] } })
    assert.match(text, /"TOO_MANY_ACCESS_KEYS"/)
  })
  it('stop when they expire', async () => {
    await using running = await remote({ backend })
    const past = await writeKey(running.gateway, { expires_at: running.gateway.clock.now() - 1 })
    const future = await writeKey(running.gateway, { expires_at: running.gateway.clock.now() + 60_000 })
    assert.equal(await opens(running, past.key), false)
    assert.equal(await opens(running, future.key), true)
  })
  it('of another process are found when they are shown, and gone after a refresh when they are revoked there', async () => {
    await using running = await remote({ backend })
    const { key, id } = await writeKey(running.gateway)
    assert.equal(await opens(running, key), true)
    await running.gateway.storage.patch('access_keys', id, { revoked_at: running.gateway.clock.now() })
    await running.gateway.keys.refresh()
    assert.equal(await opens(running, key), false)
  })
  it('serve models for as long as they live, beside those of agents', async () => {
    const provider = new FakeProvider()
    await provider.listen()
    const config = `upstreams: [{ name: provider, base_url: "${provider.url}", styles: [messages] }]\n`
    await using running = await remote({ backend, config })
    const message = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] }
    const send = async (key: string) => {
      const { status, text } = await running.ask('/v1/messages', { method: 'POST', key, body: message })
      return status === 200 ? status : `${status} ${text}`
    }
    try {
      const admin = await running.key(['admin'])
      const models = await running.key(['models'])
      const bound = await running.key(['models'], ['shop'])
      const expired = await writeKey(running.gateway, {
        scopes: ['models'],
        expires_at: running.gateway.clock.now() - 1,
      })
      const agent = await running.ask('/api/agents', { method: 'POST', key: admin.key, body: { id: 'worker' } })
      const { key: own, key_id } = agent.json as { key: string; key_id: string }
      for (const key of [admin.key, models.key, bound.key, own, GATEWAY_KEY]) assert.equal(await send(key), 200)
      assert.match(String(await send(expired.key)), /^401/)
      for (const path of [`/api/keys/${models.id}`, `/api/agents/worker/keys/${key_id}`])
        assert.equal((await running.ask(path, { method: 'DELETE', key: admin.key })).status, 204)
      for (const key of [models.key, own]) assert.match(String(await send(key)), /^401/)
      assert.equal(await send(bound.key), 200)
    } finally {
      await provider.close()
    }
  })
  it('are told apart from those of programs, and note when they were used', async () => {
    await using running = await remote({ backend })
    const { key, id } = await running.key(['read'])
    assert.equal(await opens(running, key), true)
    await running.gateway.storage.flush()
    const at = (await running.gateway.storage.get('access_keys', id))?.last_used_at ?? 0
    assert.equal(at % 60_000, 0)
    assert.ok(at > 0)
  })
  it('refuses what no key can be, by the member that is wrong', async () => {
    await using running = await remote({ backend })
    const { key } = await running.key(['admin'])
    const bodies: readonly (readonly [object, RegExp])[] = [
      [{ name: ' ', scopes: ['read'] }, /\/name/],
      [{ name: 'x', scopes: [] }, /\/scopes/],
      [{ name: 'x', scopes: ['write'] }, /scopes/],
      [{ name: 'x', scopes: ['read'], projects: ['a b'] }, /\/projects/],
      [{ name: 'x', scopes: ['read'], expires_in: 'soon' }, /\/expires_in/],
      [{ name: 'x', scopes: ['read'], expires_in: '0d' }, /\/expires_in/],
      [{ name: 'x', scopes: ['read'], hash: 'mine' }, /hash/],
    ]
    for (const [body, told] of bodies) {
      const answer = await running.ask('/api/keys', { key, method: 'POST', body })
      assert.equal(answer.status, 400, answer.text)
      assert.match(answer.text, told)
    }
  })
  it('lets a team make keys for its own projects alone, and see those', async () => {
    await using running = await remote({ backend })
    const team = await running.key(['admin'], ['shop'])
    const other = await running.key(['read'], ['bank'])
    const make = (body: object) => running.ask('/api/keys', { key: team.key, method: 'POST', body })
    assert.equal((await make({ name: 'x', scopes: ['read'], projects: ['bank'] })).status, 400)
    const own = (await make({ name: 'x', scopes: ['read'] })).json as { access_key: { projects: unknown } }
    assert.deepEqual(own.access_key.projects, ['shop'])
    assert.equal((await running.ask('/api/keys', { key: team.key })).text.includes(other.id), false)
    assert.equal((await running.ask(`/api/keys/${other.id}`, { key: team.key, method: 'DELETE' })).status, 404)
    assert.equal(await opens(running, other.key), true)
  })
})
