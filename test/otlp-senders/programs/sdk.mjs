import { context, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'

/** A tracer provider whose spans go to the recording receiver at once. */
export const startSdk = ({ instrumentations = [], resource = {}, processors } = {}) => {
  const provider = new NodeTracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': 'coder', ...resource })),
    spanProcessors: processors ?? [new SimpleSpanProcessor(new OTLPTraceExporter())],
  })
  provider.register()
  registerInstrumentations({ instrumentations, tracerProvider: provider })
  const tracer = trace.getTracer('agent')
  return {
    provider,
    tracer,
    /** Runs work within a span. */
    within: (name, work, options = {}) =>
      tracer.startActiveSpan(name, options, context.active(), async (span) => {
        try {
          return await work(span)
        } catch (error) {
          span.recordException(error)
          span.setStatus({ code: 2, message: error.message })
          throw error
        } finally {
          span.end()
        }
      }),
    end: () => provider.shutdown(),
  }
}
