import { OpenAIAgentsInstrumentation } from '@arizeai/openinference-instrumentation-openai-agents'
import * as agents from '@openai/agents'
import { z } from 'zod'
import { startSdk } from './sdk.mjs'
import { DESCRIPTION, MODEL, PROMPT, readFile, SYSTEM } from './work.mjs'

const sdk = startSdk({ resource: { 'openinference.project.name': 'repairs' } })
new OpenAIAgentsInstrumentation({ tracerProvider: sdk.provider }).manuallyInstrument(agents)
const reads = agents.tool({
  name: 'read_file',
  description: DESCRIPTION,
  parameters: z.object({ path: z.string() }),
  execute: (args) => readFile(args),
})
const agent = (model) => new agents.Agent({ name: 'coder', instructions: SYSTEM, model, tools: [reads] })
const runner = new agents.Runner({ workflowName: 'fix-bug', groupId: 's-oa' })
await runner.run(agent(MODEL), PROMPT)
await runner.run(agent('gone-1'), PROMPT).catch(() => {})
await agents.getGlobalTraceProvider().forceFlush()
await sdk.end()
