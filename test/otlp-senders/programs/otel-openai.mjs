import { OpenAIInstrumentation } from '@opentelemetry/instrumentation-openai'
import * as openai from 'openai'
import { startSdk } from './sdk.mjs'
import { chatWork } from './work.mjs'

const instrumentation = new OpenAIInstrumentation({ captureMessageContent: true })
const sdk = startSdk({ instrumentations: [instrumentation] })
for (const module of instrumentation._modules ?? []) module.patch?.(openai)
await sdk.within('fix-bug', async (span) => {
  span.setAttribute('session.id', 's-otel')
  await chatWork(new openai.OpenAI({ maxRetries: 0 }))
})
await sdk.end()
