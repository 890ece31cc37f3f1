import { openAI } from '@genkit-ai/compat-oai/openai'
import { genkit, z } from 'genkit'
import { disableGenkitOTelInitialization } from 'genkit/tracing'
import { startSdk } from './sdk.mjs'
import { DESCRIPTION, PROMPT, readFile, SYSTEM } from './work.mjs'

disableGenkitOTelInitialization()
const sdk = startSdk()
const ai = genkit({
  plugins: [openAI({ apiKey: 'none', baseURL: process.env.OPENAI_BASE_URL, maxRetries: 0 })],
})
const reads = ai.defineTool(
  { name: 'read_file', description: DESCRIPTION, inputSchema: z.object({ path: z.string() }) },
  (args) => readFile(args),
)
const ask = (name) => ai.generate({ model: openAI.model(name), system: SYSTEM, prompt: PROMPT, tools: [reads] })
const flow = ai.defineFlow({ name: 'fix-bug', inputSchema: z.string() }, async () => {
  const { text } = await ask('gpt-4o')
  await ask('gpt-gone').catch((error) => console.error(String(error).slice(0, 200)))
  return text
})
await flow('CANARYinput')
await sdk.end()
