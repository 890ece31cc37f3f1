import { z } from 'zod'
import { startSdk } from './sdk.mjs'
import { DESCRIPTION, PROMPT, readFile, SYSTEM } from './work.mjs'

const sdk = startSdk()
// it takes its tracer when it is loaded
const { FunctionTool, InMemoryRunner, LlmAgent } = await import('@google/adk')
const reads = new FunctionTool({
  name: 'read_file',
  description: DESCRIPTION,
  parameters: z.object({ path: z.string() }),
  execute: async (args) => ({ text: await readFile(args) }),
})
const work = async (model, sessionId) => {
  const agent = new LlmAgent({ name: 'coder', model, instruction: SYSTEM, tools: [reads] })
  const runner = new InMemoryRunner({ agent, appName: 'fixer' })
  await runner.sessionService.createSession({ appName: 'fixer', userId: 'u1', sessionId })
  const newMessage = { role: 'user', parts: [{ text: PROMPT }] }
  for await (const _event of runner.runAsync({ userId: 'u1', sessionId, newMessage })) {
    // each event is traced
  }
}
await work('gemini-3-pro', 's-adk')
await work('gemini-gone', 's-gone').catch((error) => console.error(String(error).slice(0, 200)))
await sdk.end()
