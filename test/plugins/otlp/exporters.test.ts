import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { OTLPTraceExporter as Json } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as Protobuf } from '@opentelemetry/exporter-trace-otlp-proto'
import { pairs, resourceSpans, span, traceId } from '../../kit/otlp-data.ts'
import { type Receiver, startReceiver } from './kit.ts'
import { reportAgent } from './spans.ts'

const exporters = { 'http/json': Json, 'http/protobuf': Protobuf }

/** What the gateway then shows, as far as it does not differ from run to run. */
const told = async (receiver: Receiver, traceId: string) => {
  const { run, spans, events } = await receiver.run(traceId)
  const [root, model, tool] = spans
  assert.deepEqual(
    spans.map(({ name, kind, status }) => [name, kind, status]),
    [
      ['agent.run', 'agent', 'ok'],
      ['chat gpt', 'model', 'error'],
      ['execute_tool ls', 'tool', 'ok'],
    ],
  )
  assert.deepEqual([model?.parent_id, tool?.parent_id], [root?.id, root?.id])
  assert.match(root?.id ?? '', /^[0-9a-f]{16}$/)
  assert.deepEqual(events, [])
  assert.deepEqual(
    [run.origin, run.session_id, run.agent_name, run.input_tokens, run.output_tokens, run.status],
    ['otlp', 'talk-1', 'tester', 1200, 34, 'ok'],
  )
  return { run, model }
}

describe('real exporters', () => {
  for (const [protocol, Exporter] of Object.entries(exporters)) {
    it(`${protocol}: spans arrive complete, without prompts and replies`, async () => {
      await using receiver = await startReceiver()
      const headers = { authorization: `Bearer ${receiver.started.key}`, 'x-guard-project-id': 'shop' }
      const traceId = await reportAgent(new Exporter({ url: receiver.url, headers }))
      const { run, model } = await told(receiver, traceId)
      assert.equal(run.project_id, 'shop')
      assert.equal(model?.status_message, 'overloaded')
      // what the gateway adds of its own, for example a price, is named guard.*
      const said = Object.entries(model?.attributes ?? {}).filter(([name]) => !name.startsWith('guard.'))
      assert.deepEqual(Object.fromEntries(said), {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'gpt-5.4',
        'gen_ai.usage.input_tokens': 1200,
        'gen_ai.usage.output_tokens': 34,
        temperature: 0.25,
        stream: true,
        stops: ['a', 'b'],
        'otel.scope.name': 'agent',
        'otel.scope.version': '1.2.3',
      })
      assert.deepEqual(
        model?.events.map(({ name, attributes }) => [name, attributes]),
        [['retry', { attempt: 2 }]],
      )
    })

    it(`${protocol}: environment variables and compression work`, async (test) => {
      await using receiver = await startReceiver()
      const environment: Readonly<Record<string, string>> = {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.started.url,
        OTEL_EXPORTER_OTLP_HEADERS: `x-api-key=${receiver.started.key}`,
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      }
      Object.assign(process.env, environment)
      test.after(() => {
        for (const name of Object.keys(environment)) delete process.env[name]
      })
      const traceId = await reportAgent(new Exporter())
      const { run } = await told(receiver, traceId)
      assert.match(run.project_id, /^unknown_service/)
    })
  }
})

describe('a trace in several requests', () => {
  const agent = span({ spanId: 'b'.repeat(16), attributes: pairs({ 'gen_ai.agent.name': 'planner' }) })
  for (const [what, order] of [
    ['first', [agent, span()]],
    ['last', [span(), agent]],
  ] as const)
    it(`has the agent’s name rather than the service’s, sent ${what}`, async () => {
      await using receiver = await startReceiver()
      for (const one of order) await receiver.taken(resourceSpans([one], { 'service.name': 'svc' }))
      assert.equal((await receiver.run(traceId)).run.agent_name, 'planner')
    })
})
