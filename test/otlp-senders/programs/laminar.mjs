import { Laminar, observe } from '@lmnr-ai/lmnr'
import OpenAI from 'openai'
import { chatWork, readFile } from './work.mjs'

const { hostname, port } = new URL(process.env.CAPTURE_URL)
Laminar.initialize({
  projectApiKey: 'none',
  baseUrl: `http://${hostname}`,
  httpPort: Number(port),
  forceHttp: true,
  disableBatch: true,
  instrumentModules: { openAI: OpenAI },
})
const tool = (args) => observe({ name: 'read_file', spanType: 'TOOL', input: args }, () => readFile(args))
await observe(
  { name: 'fix-bug', sessionId: 's-lm', tags: ['nightly'], metadata: { plan: 'CANARYplan of words' } },
  () => chatWork(new OpenAI({ maxRetries: 0 }), tool),
)
await Laminar.flush()
await Laminar.shutdown()
