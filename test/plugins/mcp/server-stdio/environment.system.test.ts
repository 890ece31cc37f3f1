import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { resultOf, startMcp } from '../../../kit/mcp.ts'

const CHILD = join(import.meta.dirname, '../../../kit/mcp-child.ts')

test('a stdio server behind /mcp/{id} gets what its entry names and what programs need, and no key of this environment', async (context) => {
  const keys = {
    OPENAI_API_KEY: 'sk-of-the-shell-0123456789',
    GUARD_APPROVER_KEY: 'approver-0123456789',
    // one that is no key by its name, in a variable that every child gets
    LOGNAME: 'guard_test_key_that_is_long_enough',
  }
  const before = { ...process.env }
  Object.assign(process.env, keys)
  context.after(() => {
    for (const name of Object.keys(keys)) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  })
  const args = JSON.stringify([...process.execArgv.filter((word) => word.startsWith('--conditions')), CHILD])
  const command = JSON.stringify(process.execPath)
  await using service = await startMcp({
    servers: `child: { transport: stdio, command: ${command}, args: ${args}, env: { GEMINI_API_KEY: of-the-server-itself } }`,
  })
  const client = await service.session({}, 'child')
  const env = resultOf(await client.request('x/env'))
  assert.equal(env.GEMINI_API_KEY, 'of-the-server-itself')
  assert.equal(env.PATH, process.env.PATH)
  for (const name of Object.keys(keys)) assert.equal(env[name], undefined, name)
})
