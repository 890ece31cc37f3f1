import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { readJson } from '#lib/json'
import { callNeedingConsent, factsOf, judgementOf, logOf } from '../audit/records-kit.ts'
import { type Bench, refused, startApi } from './kit.ts'

const CANARY = 'canary-91bd-of-an-ordinary-argument'

interface Bundle {
  readonly schema: string
  readonly exported_at: string
  readonly generator: { readonly name: string }
  readonly policies: readonly { readonly version: string; readonly text: string }[]
  readonly servers: readonly { readonly id: string }[]
  readonly approvals: readonly Readonly<Record<string, unknown>>[]
  readonly events: readonly Readonly<Record<string, unknown>>[]
}

let api: Bench
const exported = async (query = ''): Promise<Bundle> => {
  const { status, text } = await api.send('GET', `/export${query}`)
  assert.equal(status, 200, text)
  return readJson(text) as Bundle
}

describe('GET /export', () => {
  beforeEach(async () => {
    api = await startApi()
  })
  afterEach(() => api.close())

  const fill = async (calls: number): Promise<void> => {
    api.audit.policyLoaded('v1', 'version: 1\ndefault: deny\nrules: []\n')
    const log = logOf(api)
    for (let call = 0; call < calls; call++) {
      const entry = await log.begin()
      await log.judged(entry, factsOf(api, { path: CANARY, call }), judgementOf())
      void log.outcome(entry, 'ok', call)
    }
    await callNeedingConsent(api, { args: { path: CANARY }, question: { message: `Writes ${CANARY}` } })
    await api.audit.flush()
  }

  it('is one bundle: policies with their text, servers, approvals, records, oldest first', async () => {
    await fill(3)
    const bundle = await exported()
    assert.deepEqual([bundle.schema, bundle.generator.name], ['mcp-audit.v1', 'guard-gateway'])
    assert.match(bundle.policies[0]?.text ?? '', /^version: 1\n/)
    assert.deepEqual(
      bundle.servers.map(({ id }) => id),
      ['fs'],
    )
    assert.deepEqual([bundle.approvals.length, bundle.approvals[0]?.status], [1, 'pending'])
    assert.deepEqual(
      bundle.events.map(({ seq, action }) => [seq, action]),
      [
        [1, 'allow'],
        [2, 'allow'],
        [3, 'allow'],
        [1, 'confirm'],
      ],
    )
  })
  it('holds no argument, not even of what is asked just now', async () => {
    await fill(2)
    for (const format of ['json', 'jsonl']) {
      const { text } = await api.send('GET', `/export?format=${format}`)
      assert.equal(text.includes(CANARY), false)
      assert.equal(text.includes('preview'), false)
    }
    assert.equal((await api.send('GET', '/events')).text.includes(CANARY), false)
    assert.equal((await api.send('GET', '/approvals')).text.includes(CANARY), true)
  })
  it('as lines is the same, a record each', async () => {
    await fill(3)
    const { text, headers } = await api.send('GET', '/export?format=jsonl')
    assert.match(String(headers['content-type']), /^application\/x-ndjson/)
    assert.match(String(headers['content-disposition']), /filename="mcp-audit\.jsonl"/)
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly type: string })
    assert.deepEqual(
      lines.map(({ type }) => type),
      ['bundle', 'policy', 'server', 'approval', 'event', 'event', 'event', 'event'],
    )
  })
  it('is whole where there is nothing', async () => {
    const bundle = await exported('?server_id=nobody')
    assert.deepEqual([bundle.policies, bundle.servers, bundle.approvals, bundle.events], [[], [], [], []])
  })
  it('is filtered as the records are', async () => {
    await fill(2)
    assert.equal((await exported('?action=confirm')).events.length, 1)
    assert.deepEqual((await exported('?tool=nobody')).approvals, [])
    assert.deepEqual((await exported('?server_id=db')).servers, [])
    refused(400, 'UNKNOWN_FILTER', await api.send('GET', '/export?limit=1'))
    refused(400, 'INVALID_REQUEST', await api.send('GET', '/export?format=xml'))
  })
  it('continues over many pages', async () => {
    await fill(520)
    assert.equal((await exported()).events.length, 521)
  })
})
