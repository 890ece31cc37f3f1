import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Started, startGateway } from 'guard-gateway/test'

let started: Started
before(async () => {
  started = await startGateway({ upstream: 'http://127.0.0.1:9' })
  for (const scenario of ['exact-loop', 'recovery'])
    await started.request('POST', '/api/demo/run', { scenario, mode: 'shadow' })
  // a client that calls itself like the Playground is none
  const body = { model: 'm', max_tokens: 8, messages: [{ role: 'user', content: 'hello' }] }
  const names = { 'x-guard-session-id': 'playground-mine', 'x-guard-project-id': 'playground-mine' }
  const headers = { ...names, 'x-guard-agent-id': 'playground-bot', 'user-agent': 'guard-playground' }
  await started.request('POST', '/v1/messages', body, headers)
})
after(() => started.close())

const listed = async (path: string, member: string, field: string): Promise<readonly unknown[]> => {
  const { status, json, text } = await started.request('GET', path)
  assert.equal(status, 200, text)
  return (json as Record<string, readonly Record<string, unknown>[]>)[member]?.map((row) => row[field]) ?? []
}

test('sessions of the Playground are marked, and lists leave them out or show them alone', async () => {
  assert.deepEqual(await listed('/api/sessions?playground=false', 'sessions', 'external_id'), ['playground-mine'])
  const [all, alone] = await Promise.all([
    listed('/api/sessions', 'sessions', 'playground'),
    listed('/api/sessions?playground=true', 'sessions', 'playground'),
  ])
  assert.equal(all.length, alone.length + 1)
  assert.ok(alone.length >= 2 && alone.every((mark) => mark === true))
  const page = async (query: string) =>
    (await fetch(`${started.url}/sessions${query}`, { headers: { accept: 'text/html' } })).text()
  assert.equal((await page('')).match(/<em>Playground<\/em>/g)?.length, alone.length)
  assert.doesNotMatch(await page('?playground=false'), /<em>Playground<\/em>/)
  assert.match(await page('?playground=true'), /<option value="true" selected>alone/)
})

test('so are its agents', async () => {
  assert.deepEqual(await listed('/api/agents?playground=false', 'agents', 'id'), ['playground-bot'])
  const alone = await listed('/api/agents?playground=true', 'agents', 'id')
  assert.ok(alone.includes('playground'), alone.join())
  const page = async (query: string) =>
    (await fetch(`${started.url}/agents${query}`, { headers: { accept: 'text/html' } })).text()
  assert.match(await page(''), /playground-bot[\s\S]*<em>Playground<\/em>|<em>Playground<\/em>[\s\S]*playground-bot/)
  assert.doesNotMatch(await page('?playground=false'), /<em>Playground<\/em>/)
})

test('so are its runs in Replay, and a filter that contradicts another is a clear error', async () => {
  assert.deepEqual(await listed('/api/v1/runs?playground=false', 'runs', 'origin'), ['gateway'])
  const alone = await listed('/api/v1/runs?playground=true', 'runs', 'origin')
  assert.ok(alone.length >= 2 && alone.every((origin) => origin === 'playground'))
  const { status, text } = await started.request('GET', '/api/v1/runs?playground=true&origin=gateway')
  assert.equal(status, 400)
  assert.match(text, /playground.{0,4} must be left out where/)
  const page = async (query: string) =>
    (await fetch(`${started.url}/replay${query}`, { headers: { accept: 'text/html' } })).text()
  assert.equal((await page('')).match(/<em>Playground<\/em>/g)?.length, alone.length)
  assert.doesNotMatch(await page('?playground=false'), /<em>Playground<\/em>/)
  assert.equal(
    (await page('?playground=show')).match(/<em>Playground<\/em>/g)?.length,
    alone.length,
    'as charts say it',
  )
  assert.match(await page('?playground=false&q=nothing'), /No run matches/)
})
