import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Attributes } from 'guard-gateway/core'
import { readJson } from 'guard-gateway/lib/json'
import type { RunSummary } from 'guard-gateway/lib/trace-file'
import { dialectOf } from '../kit/dialogue.ts'
import { errorOf, type Service, startService } from '../kit/service.ts'

interface EventOfRun {
  readonly id: string
  readonly name: string
  readonly attributes: Attributes
}
interface SpanOfRun {
  readonly id: string
  readonly parent_id: string | null
  readonly name: string
  readonly start_ns: bigint
  readonly end_ns: bigint | null
  readonly attributes: Attributes
  readonly events: readonly EventOfRun[]
}
interface Bundle {
  readonly run: RunSummary & { readonly attributes: Attributes }
  readonly spans: readonly SpanOfRun[]
  readonly events: readonly EventOfRun[]
  readonly artifacts: readonly Readonly<Record<string, unknown>>[]
}

const START = 1_790_000_000_000_000_001n
const SHA = 'ab'.repeat(32)

describe('2.4 replay run, span, event, artifact', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service[Symbol.asyncDispose]())
  const post = async (trace: object): Promise<string> => {
    const { status, text, json } = await service.request('POST', '/api/v1/traces', trace)
    assert.ok(status < 300, text)
    return (json as { trace_id: string }).trace_id
  }
  const read = async (trace_id: string): Promise<Bundle> => {
    const { status, text } = await service.request('GET', `/api/v1/runs/${trace_id}`)
    assert.equal(status, 200, text)
    return readJson(text) as Bundle
  }

  it('a run has status, token totals, cost total, duration, failure tag and attributes, and carries its id', async () => {
    const trace_id = await post({
      trace_id: 'first',
      project_id: 'shop',
      task_id: 'T-1',
      agent_name: 'builder',
      status: 'error',
      failure_tag: 'test_failure',
      attributes: { branch: 'main', api_key: 'hunter2-and-more' },
      spans: [
        {
          name: 'gen_ai.request',
          start_ns: String(START),
          end_ns: String(START + 5n),
          attributes: { 'gen_ai.usage.input_tokens': 30, 'gen_ai.usage.output_tokens': 12 },
        },
      ],
    })
    const { run } = await read(trace_id)
    assert.deepEqual([run.id, run.trace_id, run.project_id, run.task_id], ['first', 'first', 'shop', 'T-1'])
    assert.deepEqual([run.agent_name, run.status, run.failure_tag], ['builder', 'error', 'test_failure'])
    assert.deepEqual([Number(run.total_tokens), Number(run.cost_micro), Number(run.duration_ns)], [42, 0, 5])
    assert.equal(run.attributes.branch, 'main')
    assert.equal(run.attributes.api_key, '[REDACTED:name]')
  })
  it('spans form a tree under a root named agent.run, with integer nanoseconds to the last digit', async () => {
    const trace_id = await post({
      spans: [
        {
          id: 'outer',
          name: 'command.exec',
          start_ns: String(START),
          end_ns: String(START + 9n),
          spans: [{ name: 'tool.call', start_ns: String(START + 1n), attributes: { file: 'a.ts' } }],
        },
      ],
    })
    const { spans } = await read(trace_id)
    const [root, outer, inner] = spans
    assert.deepEqual([root?.name, root?.parent_id], ['agent.run', null])
    assert.deepEqual([outer?.name, outer?.parent_id, outer?.start_ns], ['command.exec', root?.id, START])
    assert.deepEqual([inner?.name, inner?.parent_id, inner?.start_ns], ['tool.call', 'outer', START + 1n])
    assert.deepEqual(inner?.attributes, { file: 'a.ts' })
  })
  it('an event belongs to a run and optionally to a span', async () => {
    const trace_id = await post({
      spans: [{ id: 's', name: 'tool.call', events: [{ name: 'tool.result', attributes: { bytes: 3 } }] }],
      events: [{ name: 'file.change', attributes: { path: 'a.ts' } }],
    })
    const { spans, events } = await read(trace_id)
    assert.deepEqual(
      spans.flatMap((span) => span.events.map(({ name, attributes }) => [span.name, name, attributes])),
      [['tool.call', 'tool.result', { bytes: 3 }]],
    )
    assert.deepEqual(
      events.map(({ name, attributes }) => [name, attributes]),
      [['file.change', { path: 'a.ts' }]],
    )
  })
  it('an artifact has path, MIME type, size, SHA-256 and attributes', async () => {
    const artifact = {
      path: 'out/report.html',
      mime_type: 'text/html',
      size: 12,
      sha256: SHA,
      attributes: { stage: 'build' },
    }
    const { artifacts } = await read(await post({ artifacts: [artifact] }))
    const [{ id, span_id, ...kept } = {}] = artifacts
    assert.deepEqual([kept, span_id], [artifact, null])
    assert.match(String(id), /^art_/)
  })
  it('the content of an artifact is never stored', async () => {
    const answer = await service.request('POST', '/api/v1/traces', {
      trace_id: 'with-content',
      artifacts: [{ path: 'a.txt', content: 'secret' }],
    })
    assert.deepEqual([answer.status, errorOf(answer).code], [400, 'ARTIFACT_CONTENT'])
    assert.equal((await service.request('GET', '/api/v1/runs/with-content')).status, 404)
  })
  it('a failure tag is one of the five', async () => {
    for (const failure_tag of ['loop', 'timeout', 'rate_limit', 'policy_block', 'test_failure'])
      assert.equal((await read(await post({ failure_tag }))).run.failure_tag, failure_tag)
    const answer = await service.request('POST', '/api/v1/traces', { failure_tag: 'bad_luck' })
    assert.deepEqual([answer.status, errorOf(answer).code], [400, 'INVALID_FAILURE_TAG'])
  })
  it('a run has a pin state', async () => {
    const trace_id = await post({})
    assert.equal((await read(trace_id)).run.pinned, false)
    await service.request('POST', `/api/v1/runs/${trace_id}/pin`, { pinned: true })
    assert.equal((await read(trace_id)).run.pinned, true)
  })
  it('the names in use are those that the gateway itself writes', async () => {
    const { headers } = await service.send(dialectOf('messages'), [{ user: 'hello' }])
    const { spans } = await read(headers.get('x-guard-trace-id') ?? '')
    assert.deepEqual(
      spans.map(({ name, events }) => [name, events.map((event) => event.name)]),
      [
        ['agent.run', []],
        ['gen_ai.request', ['policy.decision']],
      ],
    )
  })
})
