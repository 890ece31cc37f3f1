import * as anthropic from '@anthropic-ai/sdk'
import { AnthropicInstrumentation } from '@traceloop/instrumentation-anthropic'
import { startSdk } from './sdk.mjs'
import { messagesWork } from './work.mjs'

const instrumentation = new AnthropicInstrumentation()
const sdk = startSdk()
instrumentation.setTracerProvider(sdk.provider)
instrumentation.manuallyInstrument(anthropic)
await sdk.within('fix-bug', () => messagesWork(new anthropic.Anthropic({ maxRetries: 0 })))
await sdk.end()
