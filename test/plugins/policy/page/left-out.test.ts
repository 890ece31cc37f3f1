import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Started, startGateway } from 'guard-gateway/test'

let started: Started
before(async () => {
  started = await startGateway()
})
after(() => started.close())

const page = async (path: string): Promise<string> =>
  (await fetch(started.url + path, { headers: { accept: 'text/html' } })).text()

test('what of many versions and policies is left out is told', async () => {
  const put = (project: string, threshold: number) =>
    started.request('PUT', `/api/policies/${project}`, { rules: [{ rule_type: 'max_requests', threshold }] })
  for (let version = 1; version <= 20; version++) await put('often', version)
  assert.doesNotMatch(await page('/policies/often'), /The newest/)
  await put('often', 21)
  assert.match(await page('/policies/often'), /<p class="quiet">The newest 20\.<\/p>/)
  assert.doesNotMatch(await page('/policies'), /Those of the newest/)
  for (let at = 0; at < 200; at++) await put(`one-of-many-${at}`, 1)
  assert.match(await page('/policies'), /Those of the newest 200 policies and 200 sessions/)
})
