import { observeOpenAI } from '@langfuse/openai'
import { LangfuseSpanProcessor } from '@langfuse/otel'
import * as tracing from '@langfuse/tracing'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import OpenAI from 'openai'
import { startSdk } from './sdk.mjs'
import { chatWork, readFile } from './work.mjs'

const sdk = startSdk({
  processors: [new LangfuseSpanProcessor({ exporter: new OTLPTraceExporter(), publicKey: 'pk', secretKey: 'sk' })],
})
const { startActiveObservation, propagateAttributes } = tracing
const tool = (args) =>
  startActiveObservation(
    'read_file',
    async (span) => {
      span.update({ input: args, output: await readFile(args), level: 'WARNING' })
      return readFile(args)
    },
    { asType: 'tool' },
  )
await propagateAttributes(
  {
    traceName: 'nightly repair',
    sessionId: 's-lf',
    userId: 'u1',
    tags: ['nightly'],
    metadata: { plan: 'CANARYplan of many words' },
  },
  () =>
    startActiveObservation('fix-bug', async (span) => {
      span.update({ input: { q: 'CANARYinput' } })
      await chatWork(observeOpenAI(new OpenAI({ maxRetries: 0 }), { generationName: 'gen' }), tool)
      const told = tracing.startObservation(
        'own',
        {
          model: 'our-model',
          usageDetails: { input: 10, output: 5, total: 15 },
          costDetails: { input: 0.001, output: 0.002, total: 0.003 },
        },
        { asType: 'generation' },
      )
      told.end()
      span.update({ output: 'CANARYoutput' })
    }),
)
await sdk.end()
