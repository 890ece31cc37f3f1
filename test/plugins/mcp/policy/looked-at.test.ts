import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mcpOf } from '../../../../plugins/mcp/mcp.ts'
import type { PolicyChange } from '../../../../plugins/mcp/policy/index.ts'
import { startMcp } from '../../../kit/mcp.ts'

test('a changed policy file is in force within a second, without a session or a call', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] })
  await using bench = await startMcp({ policy: 'version: 1\ndefault: allow\nrules: []\n' })
  const policies = await mcpOf(bench.gateway.gateway).policies()
  const changed = new Promise<PolicyChange>((resolve) => policies.onChange(resolve))
  await bench.policy('version: 1\nmode: shadow\ndefault: deny\nrules: []\n')
  context.mock.timers.tick(1_000)
  const { kind, state } = await changed
  assert.deepEqual([kind, state.mode], ['policy.changed', 'shadow'])
})
