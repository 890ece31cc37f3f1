import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { resultOf, startMcp } from '../../../kit/mcp.ts'

const POLICY = 'version: 1\ndefault: allow\nrules: [{ id: ask, tools: [write_file], action: confirm }]\n'
const WORDS = ['canaryPreview', 'canaryDeep']
const LIMIT_MS = 60_000

it('arguments of a denied or used approval are soon in no file of the database', async () => {
  await using service = await startMcp({ policy: POLICY, backend: 'sqlite' })
  const client = await service.session()
  const found = async (): Promise<readonly string[]> => {
    const names = (await readdir(service.folder)).filter((name) => name.startsWith('guard.db'))
    const files = await Promise.all(names.map((name) => readFile(join(service.folder, name), 'latin1')))
    return WORDS.filter((word) => files.some((text) => text.includes(word)))
  }
  for (const action of ['deny', 'allow']) {
    const args = { path: `canaryPreview-${action}`, text: `${'x '.repeat(4_000)}canaryDeep` }
    const asked = resultOf(await client.call('write_file', args))
    const { approval_id } = asked.structuredContent as { readonly approval_id: string }
    assert.deepEqual(await found(), WORDS)
    const decided = await service.gateway.request('POST', `/api/v1/mcp/approvals/${approval_id}`, { action })
    assert.equal(decided.status, 200, decided.text)
    if (action === 'allow') await client.call('write_file', args)
    const deadline = performance.now() + LIMIT_MS
    while ((await found()).length > 0 && performance.now() < deadline) await setTimeout(50)
    assert.deepEqual(await found(), [], action)
  }
})
