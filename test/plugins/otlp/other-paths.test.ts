import assert from 'node:assert/strict'
import { it } from 'node:test'
import { resourceSpans, span } from '../../kit/otlp-data.ts'
import { startReceiver } from './kit.ts'

it('exporters that know a base address alone post where LangSmith and Braintrust take spans', async () => {
  await using receiver = await startReceiver()
  const { url, key } = receiver.started
  const post = (path: string, headers: Readonly<Record<string, string>>) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(resourceSpans([span({})], { 'service.name': 'svc' })),
    })
  for (const path of ['/v1/traces/', '/otel/v1/traces'])
    assert.equal((await post(path, { 'x-api-key': 'of another gateway, and long enough' })).status, 401, path)
  assert.deepEqual(await receiver.runIds(), [])
  assert.equal((await post('/otel/v1/traces', { 'x-api-key': key })).status, 200)
  assert.equal((await receiver.runIds()).length, 1)
})
