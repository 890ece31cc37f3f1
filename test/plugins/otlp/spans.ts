import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter as Protobuf } from '@opentelemetry/exporter-trace-otlp-proto'
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base'

/** What an agent reports: a run with a model request that failed and a tool call. Gives its trace id when all is sent. */
export const reportAgent = async (exporter: SpanExporter): Promise<string> => {
  const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] })
  const tracer = provider.getTracer('agent', '1.2.3')
  const root = tracer.startSpan('agent.run', { attributes: { 'session.id': 'talk-1', 'gen_ai.agent.name': 'tester' } })
  const inside = trace.setSpan(ROOT_CONTEXT, root)
  const model = tracer.startSpan('chat gpt', { kind: SpanKind.CLIENT }, inside)
  model.setAttributes({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'gpt-5.4',
    'gen_ai.usage.input_tokens': 1200,
    'gen_ai.usage.output_tokens': 34,
    'gen_ai.input.messages': '[{"role":"user","content":"the secret plan"}]',
    temperature: 0.25,
    stream: true,
    stops: ['a', 'b'],
  })
  model.addEvent('gen_ai.choice', { message: 'the secret answer' })
  model.addEvent('retry', { attempt: 2 })
  model.setStatus({ code: SpanStatusCode.ERROR, message: 'overloaded' })
  model.end()
  const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'ls' }
  tracer.startSpan('execute_tool ls', { attributes: tool }, inside).end()
  root.end()
  await provider.forceFlush()
  await provider.shutdown()
  return root.spanContext().traceId
}

/** The bytes that the protobuf exporter sends for it. */
export const protobufBytes = async (): Promise<Buffer> => {
  const bodies: Buffer[] = []
  const server = createServer(async (request, response) => {
    bodies.push(await buffer(request))
    response.setHeader('content-type', 'application/x-protobuf')
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await reportAgent(new Protobuf({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }))
  } finally {
    server.closeAllConnections()
    server.close()
  }
  return Buffer.concat(bodies)
}
