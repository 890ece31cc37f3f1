import assert from 'node:assert/strict'
import { it } from 'node:test'
import { agentOf } from '../../../../plugins/replay/read/run-agent.ts'

it('the agent of a run is its id, else its name', () => {
  assert.equal(agentOf({ agent_id: 'coder-1', agent_name: 'Coder' }), 'coder-1')
  assert.equal(agentOf({ agent_id: null, agent_name: 'Coder' }), 'Coder')
  assert.equal(agentOf({ agent_id: null, agent_name: null }), null)
})
