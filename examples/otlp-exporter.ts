import { ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'

const exporter = new OTLPTraceExporter({
  url: 'http://127.0.0.1:8787/v1/traces',
  headers: { authorization: `Bearer ${process.env.GUARD_GATEWAY_KEY}`, 'x-guard-project-id': 'my-project' },
})
const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] })
const tracer = provider.getTracer('my-agent', '1.0.0')

const run = tracer.startSpan('agent.run', { attributes: { 'gen_ai.agent.name': 'my-agent' } })
const tool = tracer.startSpan(
  'execute_tool read_file',
  { attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'read_file' } },
  trace.setSpan(ROOT_CONTEXT, run),
)
tool.addEvent('tool.result', { 'result.bytes': 512 })
tool.end()
run.end()

await provider.shutdown()
console.log(run.spanContext().traceId)
