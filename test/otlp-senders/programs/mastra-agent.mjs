import { createOpenAI } from '@ai-sdk/openai'
import { Agent } from '@mastra/core/agent'
import { Mastra } from '@mastra/core/mastra'
import { createTool } from '@mastra/core/tools'
import { Observability } from '@mastra/observability'
import { OtelExporter } from '@mastra/otel-exporter'
import { z } from 'zod'
import { DESCRIPTION, MODEL, PROMPT, readFile, SYSTEM } from './work.mjs'

const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL })
const reads = createTool({
  id: 'read_file',
  description: DESCRIPTION,
  inputSchema: z.object({ path: z.string() }),
  execute: async (args) => ({ text: await readFile(args) }),
})
const agent = (name, model) =>
  new Agent({
    id: name,
    name,
    instructions: SYSTEM,
    model: openai.chat(model),
    tools: { read_file: reads },
    maxRetries: 0,
  })
const exporter = new OtelExporter({
  provider: { custom: { endpoint: `${process.env.CAPTURE_URL}/v1/traces`, protocol: 'http/json' } },
})
const mastra = new Mastra({
  agents: { coder: agent('coder', MODEL), gone: agent('gone', 'gone-1') },
  observability: new Observability({ configs: { otel: { serviceName: 'coder', exporters: [exporter] } } }),
  logger: false,
})
const tracingOptions = { metadata: { sessionId: 's-ma' }, tags: ['nightly'] }
await mastra.getAgent('coder').generate(PROMPT, { tracingOptions })
await mastra
  .getAgent('gone')
  .generate(PROMPT, { tracingOptions })
  .catch(() => {})
await mastra.shutdown?.()
await exporter.shutdown()
