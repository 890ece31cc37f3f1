import { BraintrustSpanProcessor } from '@braintrust/otel'
import { OpenAIInstrumentation } from '@opentelemetry/instrumentation-openai'
import * as openai from 'openai'
import { startSdk } from './sdk.mjs'
import { chatWork, DESCRIPTION, PROMPT, readFile } from './work.mjs'

const instrumentation = new OpenAIInstrumentation({ captureMessageContent: true })
const sdk = startSdk({
  instrumentations: [instrumentation],
  processors: [
    new BraintrustSpanProcessor({ apiKey: 'none', apiUrl: process.env.CAPTURE_URL, parent: 'project_name:elsewhere' }),
  ],
})
for (const module of instrumentation._modules ?? []) module.patch?.(openai)
const fields = (type, more = {}) => ({
  attributes: { 'braintrust.span_attributes': JSON.stringify({ type }), ...more },
})
const tool = (args) =>
  sdk.within(
    'read_file',
    async (span) => {
      const result = await readFile(args)
      span.setAttribute('braintrust.output_json', JSON.stringify(result))
      return result
    },
    fields('tool', {
      'braintrust.input_json': JSON.stringify(args),
      'braintrust.metadata': JSON.stringify({ description: DESCRIPTION }),
    }),
  )
/** A model that nothing instruments is told of in Braintrust's own fields. */
const own = (span) => {
  const metrics = { prompt_tokens: 10, completion_tokens: 5, tokens: 15, estimated_cost: 0.003 }
  span.setAttribute('braintrust.metrics', JSON.stringify(metrics))
  span.setAttribute('braintrust.output_json', JSON.stringify('CANARYreply of our model'))
}
await sdk.within(
  'fix-bug',
  async () => {
    await chatWork(new openai.OpenAI({ maxRetries: 0 }), tool)
    await sdk.within(
      'own',
      own,
      fields('llm', {
        'braintrust.input_json': JSON.stringify([{ role: 'user', content: PROMPT }]),
        'braintrust.metadata': JSON.stringify({ model: 'our-model', session_id: 's-bt' }),
      }),
    )
  },
  fields('task', { 'braintrust.parent': 'project_name:repairs', 'braintrust.tags': ['nightly'] }),
)
await sdk.end()
