import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { exampleCommand } from '../../../plugins/docs/describe.ts'
import type { Description } from '../../../plugins/docs/page/description.ts'
import { type LocatedOperation, operationsOf } from '../../../plugins/docs/page/description.ts'
import { type Started, startGateway } from '../../kit.ts'

let started: Started
let operations: readonly LocatedOperation[]
before(async () => {
  started = await startGateway({
    config: 'mcp: { servers: { files: { transport: http, target: "http://127.0.0.1:9/mcp" } } }',
  })
  operations = operationsOf((await started.request('GET', '/openapi.json')).json as Description)
})
after(() => started.close())

const commandOf = (placed: LocatedOperation): string =>
  exampleCommand(placed, { origin: started.url, keyCommand: 'guard key print' })

const pageOf = async ({ id }: LocatedOperation): Promise<string> => {
  const answer = await fetch(`${started.url}/docs/${encodeURIComponent(id)}`, { headers: { accept: 'text/html' } })
  return (await answer.text()).replaceAll('&quot;', '"').replaceAll('&#39;', "'")
}

/** What a command sends. */
const bodyOf = (command: string): string | undefined => / -d '([\s\S]*)'$/.exec(command)?.[1]

/** Nothing waits for an answer here, and no server has a login. */
const refusals: readonly (readonly [path: string, answer: RegExp])[] = [
  ['/api/v1/mcp/approvals/{id}', /APPROVAL_NOT_FOUND/],
  ['/api/v1/mcp/servers/{id}/login', /MCP_LOGIN_(?:OFF|FAILED)/],
]

describe('the example command of an operation', () => {
  it('uses the origin of the page and the command line of the program', async () => {
    started.gateway.calledAs = { here: 'npm run -s guard --', anywhere: 'guard' }
    const messages = operations.find(({ path }) => path === '/v1/messages') ?? assert.fail()
    const text = await pageOf(messages)
    assert.ok(text.includes(`curl -X POST "${started.url}/v1/messages" \\\n`))
    assert.ok(text.includes('GUARD_KEY="$(npm run -s guard -- key print)"'))
    assert.doesNotMatch(text, /in braces/)
    const one = operations.find(({ path }) => path === '/api/v1/runs/{trace_id}') ?? assert.fail()
    assert.match(await pageOf(one), /Fill in the values in braces/)
  })

  it('sends a body that the route accepts', async () => {
    const { json } = await started.request('POST', '/api/demo/run', { scenario: 'exact-loop' })
    const { session_id, trace_ids } = json as { readonly session_id: string; readonly trace_ids: readonly string[] }
    await started.request('POST', '/api/agents', { id: 'coder' })
    const idOf = (path: string): string => {
      if (path.startsWith('/api/sessions')) return session_id
      return path.startsWith('/api/agents') ? 'coder' : 'files'
    }
    const filled = (text: string, path: string): string =>
      text
        .replaceAll('{trace_id}', trace_ids[0] ?? '')
        .replaceAll('{project_id}', 'default')
        .replaceAll('{id}', idOf(path))
    const taken: string[] = []
    for (const placed of operations) {
      const { method, path, operation } = placed
      // those with a key need a provider or a server behind the gateway
      const body = operation.security === undefined ? bodyOf(commandOf(placed)) : undefined
      if (body === undefined) continue
      const { status, text } = await started.request(method, filled(path, path), filled(body, path))
      const expected = refusals.find(([name]) => path.startsWith(name))?.[1]
      if (expected !== undefined) assert.match(text, expected)
      else assert.ok(status < 300, `${method} ${path} ${body}: ${status} ${text}`)
      taken.push(path)
    }
    assert.ok(taken.length >= 14, taken.join('\n'))
  })

  it('sends a file for a binary body, and quotes for the shell', () => {
    const file = operations.find(({ path }) => path === '/api/v1/runs/import') ?? assert.fail()
    assert.match(commandOf(file), /content-type: application\/json' \\\n {2}--data-binary '@\{file\}'$/)
    const example = { name: "the agent's" }
    const operation = { responses: {}, requestBody: { content: { 'application/json': { schema: {}, example } } } }
    assert.match(commandOf({ ...file, operation }), / -d '\{\n {2}"name": "the agent'\\''s"\n\}'$/)
  })
})
