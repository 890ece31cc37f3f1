import { Client } from 'langsmith'
import { initializeOTEL } from 'langsmith/experimental/otel/setup'
import { traceable } from 'langsmith/traceable'
import { wrapOpenAI } from 'langsmith/wrappers'
import OpenAI from 'openai'
import { chatWork, readFile } from './work.mjs'

const otel = initializeOTEL({ exporterConfig: { url: `${process.env.CAPTURE_URL}/v1/traces` } })
const client = new Client({ apiKey: 'none', apiUrl: process.env.CAPTURE_URL })
const about = { client, project_name: 'repairs' }
const tool = traceable(readFile, {
  ...about,
  name: 'read_file',
  run_type: 'tool',
  metadata: { session_id: 's-ls', inputs: 'CANARYmeta of words' },
  tags: ['nightly'],
})
const model = wrapOpenAI(new OpenAI({ maxRetries: 0 }), about)
await traceable(() => chatWork(model, tool), { ...about, name: 'fix-bug', run_type: 'chain' })({ input: 'CANARYinput' })
await client.awaitPendingTraceBatches()
await otel.DEFAULT_LANGSMITH_TRACER_PROVIDER.forceFlush()
