import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway } from 'guard-gateway/test'
import { countRuns } from '../../../plugins/clients/agent-runs.ts'

test('a gateway counts the requests that name a run, guarded or not, and no others', async (context) => {
  const counting = { name: 'counting', apply: countRuns }
  const gateway = await startGateway({ upstream: 'http://127.0.0.1:1', plugins: [counting] })
  context.after(() => gateway.close())
  const counted = async (id: string) => {
    const answer = await fetch(`${gateway.url}/api/agent-runs/${id}`)
    return ((await answer.json()) as { readonly requests: number }).requests
  }
  const ask = async (path: string, run: string, key = gateway.key) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}`, 'x-guard-run-id': run }
    const body = JSON.stringify({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hello' }] })
    await (await fetch(gateway.url + path, { method: 'POST', headers, body })).text()
  }
  await ask('/v1/messages', 'run_0123456789')
  await ask('/v1/messages/count_tokens', 'run_0123456789')
  await ask('/v1/messages', 'run_0123456789', 'no-key')
  await ask('/v1/messages', 'not a run')
  assert.deepEqual([await counted('run_0123456789'), await counted('run_9876543210')], [2, 0])
})
