import Anthropic from '@anthropic-ai/sdk'
import { setSession, traceTool } from '@arizeai/openinference-core'
import { AnthropicInstrumentation } from '@arizeai/openinference-instrumentation-anthropic'
import { context } from '@opentelemetry/api'
import { startSdk } from './sdk.mjs'
import { messagesWork, readFile } from './work.mjs'

const instrumentation = new AnthropicInstrumentation()
const sdk = startSdk({ resource: { 'openinference.project.name': 'repairs' } })
instrumentation.setTracerProvider(sdk.provider)
instrumentation.manuallyInstrument(Anthropic)
const tool = traceTool(readFile, { name: 'read_file' })
await context.with(setSession(context.active(), { sessionId: 's-oi' }), () =>
  sdk.within('fix-bug', () => messagesWork(new Anthropic({ maxRetries: 0 }), tool)),
)
await sdk.end()
