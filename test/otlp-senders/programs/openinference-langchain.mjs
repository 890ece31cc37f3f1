import { LangChainInstrumentation } from '@arizeai/openinference-instrumentation-langchain'
import * as callbackManager from '@langchain/core/callbacks/manager'
import { HumanMessage, SystemMessage } from '@langchain/core/messages'
import { RunnableLambda } from '@langchain/core/runnables'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'
import { startSdk } from './sdk.mjs'
import { DESCRIPTION, MODEL, PROMPT, readFile, SYSTEM } from './work.mjs'

const sdk = startSdk({ resource: { 'openinference.project.name': 'repairs' } })
new LangChainInstrumentation({ tracerProvider: sdk.provider }).manuallyInstrument(callbackManager)
const schema = z.object({ path: z.string() })
const reads = tool((args) => readFile(args), { name: 'read_file', description: DESCRIPTION, schema })
const model = (name) =>
  new ChatOpenAI({ model: name, maxRetries: 0, configuration: { baseURL: process.env.OPENAI_BASE_URL } }).bindTools([
    reads,
  ])
const chain = RunnableLambda.from(async (_input, config) => {
  const messages = [new SystemMessage(SYSTEM), new HumanMessage(PROMPT)]
  const reply = await model(MODEL).invoke(messages, config)
  messages.push(reply, await reads.invoke(reply.tool_calls[0], config))
  const last = await model(MODEL).invoke(messages, config)
  await model('gone-1')
    .invoke(messages, config)
    .catch(() => {})
  return last.content
}).withConfig({ runName: 'fix-bug' })
await chain.invoke('CANARYinput', { metadata: { session_id: 's-lc' }, tags: ['nightly'] })
await sdk.end()
