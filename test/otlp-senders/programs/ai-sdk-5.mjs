import { createOpenAI } from '@ai-sdk/openai'
import * as ai from 'ai'
import { z } from 'zod'
import { startSdk } from './sdk.mjs'
import { DESCRIPTION, MODEL, PROMPT, readFile, SYSTEM } from './work.mjs'

const sdk = startSdk()
const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL })
const telemetry = { isEnabled: true, functionId: 'fix-bug', recordInputs: true, recordOutputs: true }
const ask = (model) =>
  ai.generateText({
    model: openai.chat(model),
    system: SYSTEM,
    prompt: PROMPT,
    maxRetries: 0,
    stopWhen: ai.stepCountIs(4),
    tools: {
      read_file: ai.tool({
        description: DESCRIPTION,
        inputSchema: z.object({ path: z.string() }).passthrough(),
        execute: (args) => readFile(args),
      }),
    },
    experimental_telemetry: { ...telemetry, metadata: { sessionId: 's-ai', plan: 'CANARYmetadata of a long kind' } },
  })
await ask(MODEL)
await ask('gone-1').catch((error) => console.error(String(error).slice(0, 200)))
await sdk.end()
