import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { jsonObjectOf, listOf } from '#lib/json'
import { type FakeProvider, fakeProvider, type Script } from '../../../kit/provider.ts'
import { called, healthOf, startAudited, until } from './kit.ts'

const receiver = async (...scripts: readonly Script[]): Promise<FakeProvider> => {
  const provider = await fakeProvider()
  return provider.script(...scripts)
}

const recordsIn = ({ requests }: FakeProvider) =>
  requests.flatMap(({ body }) =>
    listOf(JSON.parse(String(gunzipSync(body))).resourceLogs).flatMap((group) =>
      listOf(jsonObjectOf(group).scopeLogs).flatMap((scope) =>
        listOf(jsonObjectOf(scope).logRecords).map(jsonObjectOf),
      ),
    ),
  )

const attributesOf = (record: Readonly<Record<string, unknown>>): ReadonlyMap<string, unknown> =>
  new Map(
    listOf(record.attributes).map((pair) => {
      const { key, value } = jsonObjectOf(pair)
      return [String(key), Object.values(jsonObjectOf(value))[0]]
    }),
  )

const POLICY = 'version: 1\ndefault: allow\nrules: [{ id: no, tools: [delete_file], action: deny }]\n'

describe('audit records as OTLP logs', () => {
  it('come as log records with their severity, trace and fields', async () => {
    const provider = await receiver()
    await using service = await startAudited(`{ url: "${provider.url}" }`, POLICY)
    const client = await service.session()
    await called(client, 'read_file', { path: 'never sent anywhere' })
    await called(client, 'delete_file')
    await service.gateway.close()
    assert.deepEqual(new Set(provider.requests.map(({ path }) => path)), new Set(['/v1/logs']))
    const records = recordsIn(provider)
    const [read, denied] = ['read_file', 'delete_file'].map((tool) =>
      records.find((record) => attributesOf(record).get('gen_ai.tool.name') === tool),
    )
    assert.deepEqual(
      [read, denied].map((one) => [one?.eventName, one?.severityNumber, one?.severityText, one?.body]),
      [
        ['guard.mcp.policy.decision', 9, 'INFO', { stringValue: 'allow read_file on up' }],
        ['guard.mcp.policy.decision', 13, 'WARN', { stringValue: 'deny delete_file on up' }],
      ],
    )
    assert.match(String(read?.traceId), /^[0-9a-f]{32}$/)
    assert.match(String(read?.spanId), /^[0-9a-f]{16}$/)
    assert.match(String(read?.timeUnixNano), /^\d{19}$/)
    const fields = attributesOf(read ?? {})
    assert.deepEqual(
      ['guard.mcp.kind', 'guard.mcp.outcome', 'guard.mcp.forwarded', 'guard.mcp.server_id'].map((name) =>
        fields.get(name),
      ),
      ['decision', 'ok', true, 'up'],
    )
    assert.ok(!JSON.stringify(records).includes('never sent anywhere'))
    await provider.close()
  })
  it('that are refused are counted, and why is told', async () => {
    const partialSuccess = { rejectedLogRecords: '1', errorMessage: 'too old' }
    const provider = await receiver({ status: 200, body: JSON.stringify({ partialSuccess }) })
    await using service = await startAudited(`{ url: "${provider.url}/x" }`)
    await called(await service.session(), 'read_file')
    const health = await until(async () => {
      const [first] = await healthOf(service)
      return (first?.failed ?? 0) > 0 && first
    })
    assert.equal(health.failed, 1)
    assert.match(String(health.last_error?.message), /It took \d+ of \d+ audit records: too old\.$/)
    const { text } = await service.gateway.request('GET', '/metrics')
    assert.match(text, /guard_audit_push_records_total\{receiver="http:\/\/127\.0\.0\.1:\d+\/x",outcome="failed"\} 1/)
    await provider.close()
  })
})
