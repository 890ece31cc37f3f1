import { setSession, traceTool } from '@arizeai/openinference-core'
import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai'
import { context } from '@opentelemetry/api'
import OpenAI from 'openai'
import { startSdk } from './sdk.mjs'
import { chatWork, readFile } from './work.mjs'

const instrumentation = new OpenAIInstrumentation()
const sdk = startSdk({ resource: { 'openinference.project.name': 'repairs' } })
instrumentation.setTracerProvider(sdk.provider)
instrumentation.manuallyInstrument(OpenAI)
const tool = traceTool(readFile, { name: 'read_file' })
await context.with(setSession(context.active(), { sessionId: 's-oi' }), () =>
  sdk.within('fix-bug', () => chatWork(new OpenAI({ maxRetries: 0 }), tool)),
)
await sdk.end()
