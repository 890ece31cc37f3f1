import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SimulationView } from '../../../../plugins/mcp/simulate/routes.ts'
import { startMcp } from '../../../kit/mcp.ts'

const before = 'version: 1\ndefault: confirm\nrules: []\n'
const ruleFor = (when: string, action = 'deny'): string =>
  `version: 1\ndefault: confirm\nrules:\n  - { id: some, tools: [delete_file], when: { ${when} }, action: ${action} }\n`

test('a simulation knows who asked as far as that is on record', async () => {
  await using service = await startMcp({ policy: before })
  for (const agent of ['bot', 'other']) {
    const client = await service.session({ 'x-guard-agent-id': agent })
    await client.request('tools/list')
    await client.call('delete_file', {})
  }
  const told = async (yaml: string) => {
    const { text } = await service.gateway.request('POST', '/api/v1/mcp/policies/simulate', { yaml })
    const { changes, unknown, same } = JSON.parse(text) as SimulationView
    const lines = [...changes, ...unknown].map(({ was, would_be, calls }) => `${was} → ${would_be.join('|')} ${calls}`)
    return [...lines, `same ${same}`]
  }
  assert.deepEqual(await told(ruleFor('agents: [bot]')), ['confirm → deny 1', 'same 1'])
  assert.deepEqual(await told(ruleFor('agents: [bot], clients: [cli]')), ['confirm → confirm|deny 1', 'same 1'])
  assert.deepEqual(await told(ruleFor('clients: [cli]')), ['confirm → confirm|deny 2', 'same 0'])
  assert.deepEqual(await told(ruleFor('projects: [elsewhere]')), ['same 2'])

  // a rule that names clients puts on record who asked
  await service.policy(ruleFor('clients: [nobody]'))
  const client = await service.session({ 'x-guard-agent-id': 'bot' })
  await client.request('tools/list')
  await client.call('delete_file', {})
  assert.deepEqual(await told(ruleFor('clients: [cli]')), ['confirm → confirm|deny 2', 'same 1'])
})
