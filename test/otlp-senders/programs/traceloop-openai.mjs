import { OpenAIInstrumentation } from '@traceloop/instrumentation-openai'
import OpenAI from 'openai'
import { startSdk } from './sdk.mjs'
import { chatWork, readFile } from './work.mjs'

const instrumentation = new OpenAIInstrumentation()
const sdk = startSdk()
instrumentation.setTracerProvider(sdk.provider)
instrumentation.manuallyInstrument(OpenAI)
// what the decorators of @traceloop/node-server-sdk set
const entity = (kind, name) => ({
  attributes: {
    'traceloop.span.kind': kind,
    'traceloop.entity.name': name,
    'traceloop.workflow.name': 'fix-bug',
    'traceloop.association.properties.session_id': 's-tl',
  },
})
const tool = (args) => sdk.within('read_file.tool', () => readFile(args), entity('tool', 'read_file'))
await sdk.within('fix-bug.workflow', () => chatWork(new OpenAI({ maxRetries: 0 }), tool), entity('workflow', 'fix-bug'))
await sdk.end()
