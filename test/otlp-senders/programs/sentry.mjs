import { setTimeout } from 'node:timers/promises'
import * as Sentry from '@sentry/node'
import OpenAI from 'openai'
import { chatWork, readFile } from './work.mjs'

/** The SDK sends spans in a form of its own; they are carried over to OTLP with the attributes that they have. */
const carried = []
const anyValue = (value) => {
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } }
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: value } : { doubleValue: value }
  return typeof value === 'boolean' ? { boolValue: value } : { stringValue: String(value) }
}
const nanos = (seconds) => String(BigInt(Math.round(seconds * 1e6)) * 1000n)
const toOtlp = ({ trace_id, span_id, parent_span_id, description, start_timestamp, timestamp, status, data }) => ({
  traceId: trace_id,
  spanId: span_id,
  ...(parent_span_id === undefined ? {} : { parentSpanId: parent_span_id }),
  name: description,
  startTimeUnixNano: nanos(start_timestamp),
  endTimeUnixNano: nanos(timestamp),
  status: status === undefined || status === 'ok' ? {} : { code: 2, message: status },
  attributes: Object.entries(data).map(([key, value]) => ({ key, value: anyValue(value) })),
})

Sentry.init({
  dsn: `http://key@${new URL(process.env.CAPTURE_URL).host}/1`,
  tracesSampleRate: 1,
  traceLifecycle: 'static',
  sendDefaultPii: true,
  beforeSendTransaction: ({ transaction, start_timestamp, timestamp, spans, contexts }) => {
    const { trace } = contexts
    carried.push(...spans.map(toOtlp), toOtlp({ ...trace, description: transaction, start_timestamp, timestamp }))
    return null
  },
})
const client = Sentry.instrumentOpenAiClient(new OpenAI({ maxRetries: 0 }), { recordInputs: true, recordOutputs: true })
const tool = (args) =>
  Sentry.startSpan(
    {
      name: 'execute_tool read_file',
      op: 'gen_ai.execute_tool',
      attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'read_file' },
    },
    () => readFile(args),
  )
await Sentry.startSpan(
  { name: 'fix-bug', op: 'gen_ai.invoke_agent', attributes: { 'gen_ai.agent.name': 'coder' } },
  () => chatWork(client, tool),
)
await Sentry.flush(2_000)
await setTimeout(500)
const scope = { name: 'sentry.javascript.node', version: Sentry.SDK_VERSION }
const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'coder' } }] }
await fetch(`${process.env.CAPTURE_URL}/v1/traces`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans: carried }] }] }),
})
await Sentry.close(2_000)
