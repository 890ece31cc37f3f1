import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { assertsSchema } from '../kit/schemas.ts'
import { errorOf, type Service, startService } from '../kit/service.ts'

interface Imported {
  readonly imported: readonly {
    readonly trace_id: string
    readonly source_trace_id: string
    readonly remapped: boolean
  }[]
}
interface Bundle {
  readonly run: { readonly name: string | null }
  readonly spans: readonly { readonly id: string; readonly parent_id: string | null; readonly name: string }[]
}

const trace = {
  trace_id: 'native-id',
  name: 'first',
  spans: [
    {
      id: 'outer',
      name: 'tool.call',
      spans: [{ id: 'inner', name: 'command.exec', events: [{ name: 'file.change' }] }],
    },
  ],
  artifacts: [{ path: 'a.txt' }],
}

describe('4.4 replay: export and import', () => {
  let service: Service
  before(async () => {
    service = await startService()
    assert.equal((await service.request('POST', '/api/v1/traces', trace)).status, 201)
  })
  after(() => service[Symbol.asyncDispose]())
  const exported = async (format: string): Promise<string> => {
    const { status, text } = await service.request('GET', `/api/v1/runs/native-id/export?format=${format}`)
    assert.equal(status, 200, text)
    return text
  }
  const bundle = async (id: string): Promise<Bundle> =>
    (await service.request('GET', `/api/v1/runs/${id}`)).json as Bundle
  const importing = async (text: string): Promise<Imported> => {
    const answer = await fetch(`${service.gateway.url}/api/v1/runs/import`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: text,
    })
    assert.equal(answer.status, 201)
    return (await answer.json()) as Imported
  }

  it('json is a native trace.v1 bundle', async () => {
    const text = await exported('json')
    assertsSchema('trace')(JSON.parse(text))
  })
  it('jsonl is one run, span, event or artifact record a line', async () => {
    const lines = (await exported('jsonl')).trimEnd().split('\n')
    const records = lines.map((line) => JSON.parse(line) as { type: string })
    for (const record of records) assertsSchema('jsonl')(record)
    assert.deepEqual(
      records.map(({ type }) => type),
      ['run', 'span', 'span', 'span', 'event', 'artifact'],
    )
  })
  it('otel has resourceSpans with trace and span ids of the right length, hashed where they were others', async () => {
    const { resourceSpans } = JSON.parse(await exported('otel')) as {
      resourceSpans: { scopeSpans: { spans: { traceId: string; spanId: string; parentSpanId?: string }[] }[] }[]
    }
    const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
    assert.equal(spans.length, 3)
    for (const { traceId, spanId } of spans) {
      assert.match(traceId, /^[0-9a-f]{32}$/)
      assert.match(spanId, /^[0-9a-f]{16}$/)
    }
    const ids = new Set(spans.map(({ spanId }) => spanId))
    assert.equal(spans.filter(({ parentSpanId }) => parentSpanId !== undefined && ids.has(parentSpanId)).length, 2)
  })
  it('another format is refused, and the known ones are named', async () => {
    const answer = await service.request('GET', '/api/v1/runs/native-id/export?format=xml')
    assert.deepEqual([answer.status, errorOf(answer).code], [400, 'UNKNOWN_FORMAT'])
    assert.ok(['json', 'jsonl', 'otel'].every((id) => (errorOf(answer).known as readonly string[]).includes(id)))
  })
  for (const format of ['json', 'jsonl']) {
    it(`a repeated import of ${format} overwrites nothing and keeps parent links`, async () => {
      const before = await bundle('native-id')
      const [one, two] = [await importing(await exported(format)), await importing(await exported(format))]
      const ids = [one, two].map(({ imported }) => imported[0]?.trace_id ?? '')
      assert.equal(new Set([...ids, 'native-id']).size, 3)
      assert.deepEqual([one.imported[0]?.remapped, one.imported[0]?.source_trace_id], [true, 'native-id'])
      assert.deepEqual(await bundle('native-id'), before)
      for (const id of ids) {
        const { spans } = await bundle(id)
        const named = (name: string) => spans.find((span) => span.name === name)
        assert.equal(named('command.exec')?.parent_id, named('tool.call')?.id)
        assert.equal(named('tool.call')?.parent_id, named('agent.run')?.id)
        assert.ok(!spans.some((span) => span.id === 'outer' || span.id === 'inner'), 'ids are new ones')
      }
    })
  }
  it('a broken file is refused whole, with the line', async () => {
    const text = await exported('jsonl')
    const answer = await fetch(`${service.gateway.url}/api/v1/runs/import`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: `${text.replaceAll('native-id', 'broken-id')}{"type":"span"`,
    })
    const { error } = (await answer.json()) as { error: { code: string; line: number } }
    assert.deepEqual([answer.status, error.code, error.line], [400, 'INVALID_JSON', 7])
    assert.equal((await service.request('GET', '/api/v1/runs/broken-id')).status, 404)
  })
})
