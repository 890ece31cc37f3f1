import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Service, startService } from 'guard-gateway/test'
import { dialectOf, looping } from '../../../kit.ts'

let service: Service
before(async () => {
  service = await startService()
  const headers = { 'x-guard-session-id': 'one', 'x-guard-agent-id': 'fixer', 'x-guard-project-id': 'web' }
  await service.send(dialectOf('messages'), looping(1), headers)
  await service.request('POST', '/api/v1/traces', { trace_id: 'told', name: 'told run', agent_name: 'fixer' })
  await service.request('POST', '/api/v1/traces', { trace_id: 'far', name: 'far run', agent_name: 'Far away / 2' })
})
after(() => service[Symbol.asyncDispose]())

const page = async (path: string, status = 200): Promise<string> => {
  const answer = await fetch(service.gateway.url + path, { headers: { accept: 'text/html' } })
  assert.equal(answer.status, status, path)
  return answer.text()
}

test('the list has agents of requests and those that only runs name', async () => {
  const text = await page('/agents')
  assert.match(text, /id="agent-fixer"[\s\S]*aria-label="Pause agent fixer"/)
  assert.match(text, /<td class="figure">1<span class="unit"> requests<\/span>/)
  assert.match(text, /<a href="\/agents\/Far%20away%20%2F%202"><bdi>Far away \/ 2<\/bdi><\/a>/)
})

test('an agent has its totals, sessions, and the runs of the gateway and of programs', async () => {
  const text = await page('/agents/fixer')
  assert.match(text, /<dt>Requests<\/dt><dd>1<\/dd>/)
  assert.match(text, /<tr id="session-ses_[\s\S]*web/)
  assert.match(text, /<tr id="run-told"/)
  assert.match(text, /<bdi>one<\/bdi>/, 'the run of the session has its name')
  assert.equal(text.match(/<tr id="run-/g)?.length, 2)
  assert.match(text, /No live key/)
})

test('keys are told by id, never themselves', async () => {
  const { json } = await service.request('POST', '/api/agents', { id: 'keyed' })
  const { key, key_id } = json as { readonly key: string; readonly key_id: string }
  const text = await page('/agents/keyed')
  assert.match(text, new RegExp(`<tr id="key-${key_id}"`))
  assert.ok(!text.includes(key.slice(0, 12)))
})

test('an agent that only runs name has a page; nobody has none', async () => {
  assert.match(await page('/agents/Far%20away%20%2F%202'), /<tr id="run-far"/)
  assert.match(await page('/agents/nobody', 404), /There is no agent &quot;nobody&quot;/)
})

test('the search finds the key of an agent, also a revoked one', async () => {
  const { json } = await service.request('POST', '/api/agents', { id: 'searched' })
  const { key_id } = json as { readonly key_id: string }
  const find = () => fetch(`${service.gateway.url}/search?q=${key_id}`, { redirect: 'manual' })
  assert.equal((await find()).headers.get('location'), `/agents/searched#key-${key_id}`)
  await service.request('DELETE', `/api/agents/searched/keys/${key_id}`)
  assert.equal((await find()).headers.get('location'), `/agents/searched#key-${key_id}`)
})
