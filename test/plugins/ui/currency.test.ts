import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Started, startGateway } from 'guard-gateway/test'

let folder: string
let started: Started
let pages: readonly string[]
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guard-currency-'))
  await writeFile(join(folder, 'prices.yml'), 'version: 1\ncurrency: EUR\nmodels: { playground-model: 400000 }\n')
  started = await startGateway({ folder, upstream: 'http://127.0.0.1:9', config: 'replay: { pricing: prices.yml }' })
  const { json } = await started.request('POST', '/api/demo/run', { scenario: 'cost-limit', mode: 'enforce' })
  const { session_id, trace_ids } = json as Readonly<Record<string, string>>
  pages = [
    '/',
    '/sessions',
    `/sessions/${session_id}`,
    '/replay',
    `/replay?session_id=${session_id}`,
    `/replay/${trace_ids?.[0]}?find=gen_ai`,
    `/replay/compare?left=${trace_ids?.[0]}&right=${trace_ids?.[0]}`,
  ]
})
after(async () => {
  await started.close()
  await rm(folder, { recursive: true })
})

const textOf = async (path: string): Promise<string> => {
  const answer = await fetch(started.url + path, { headers: { accept: 'text/html' } })
  assert.equal(answer.status, 200, path)
  return (await answer.text()).replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
}

test('every page with costs names the currency of the price file', async () => {
  for (const path of pages) {
    const text = await textOf(path)
    assert.match(text, /Cost(?: today)?, EUR|\d EUR/, path)
    assert.doesNotMatch(text, /\d cost\b/, path)
  }
})
