/** Programs that use the package as its users do. Each takes the address of the gateway and a trace id, and prints what `stats()` says. */
export const programs = {
  'esm.mjs': `import { createGuard } from 'guard-gateway-sdk'
const [url, id] = process.argv.slice(2)
const guard = createGuard({ baseUrl: url, ingestTimeoutMs: 60000 })
const mine = new TypeError('mine')
await guard.trace(id, { traceId: id }, async () => {
  await guard.tool({ name: 'read_file', callId: 'call_1' }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 5))
    return guard.span('inside', () => 1)
  })
  const pieces = guard.model({ model: 'm-1' }, async function* (span) {
    yield 'a'
    guard.span('within', () => {})
    span.usage({ input_tokens: 10, output_tokens: 2 })
  })
  for await (const piece of pieces) if (piece !== 'a') throw new Error(piece)
  guard.span('fails', () => { throw mine })
}).catch((error) => { if (error !== mine) throw error })
await guard.close()
console.log(JSON.stringify(guard.stats()))
`,
  'cjs.cjs': `const { createGuard } = require('guard-gateway-sdk')
const [url, id] = process.argv.slice(2)
const guard = createGuard({ baseUrl: url, ingestTimeoutMs: 60000 })
guard.trace(id, { traceId: id }, () => guard.span('step', () => 1))
  .then(() => guard.close())
  .then(() => console.log(JSON.stringify(guard.stats())))
`,
  'worker.mjs': `import { fileURLToPath } from 'node:url'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { createGuard } from 'guard-gateway-sdk'
if (isMainThread) new Worker(fileURLToPath(import.meta.url), { workerData: process.argv.slice(2) })
else {
  const [url, id] = workerData
  const guard = createGuard({ baseUrl: url, ingestTimeoutMs: 60000 })
  await guard.trace(id, { traceId: id }, () => guard.span('step', () => 1))
  await guard.close()
  console.log(JSON.stringify(guard.stats()))
}
`,
  // nobody closes the guard: the end of the program sends what waits
  'end.mjs': `import { createGuard } from 'guard-gateway-sdk'
const [url, id] = process.argv.slice(2)
const guard = createGuard({ baseUrl: url, flushMs: 60000, ingestTimeoutMs: 60000 })
await guard.trace(id, { traceId: id }, () => guard.span('step', () => 1))
console.log('{}')
`,
  // addresses that are wrong, each told in one sentence
  'wrong.mjs': `import { createGuard } from 'guard-gateway-sdk'
const [url] = process.argv.slice(2)
const said = []
for (const baseUrl of ['http://127.0.0.1:60999', url.replace('http:', 'https:'), 'http://no-such-host.invalid', url + '/v1']) {
  const guard = createGuard({ baseUrl, handleExit: false, ingestTimeoutMs: 1500, onError: (error) => said.push(error.message) })
  await guard.trace('wrong', () => {})
  await guard.close()
}
console.log(JSON.stringify(said))
`,
} as const

export type ProgramName = keyof typeof programs
