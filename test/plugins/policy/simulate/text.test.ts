import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Simulation } from '../../../../plugins/policy/simulate/simulation.ts'
import { simulationLines } from '../../../../plugins/policy/simulate/text.ts'

const rule = {
  rule_id: 'error_retry',
  sessions: 12,
  share: 0.5,
  requests_after: 1_234,
  tokens_after: 1_234_567,
  cost_after_micro: 1_234_567,
  differing_results: 12,
  unseen_sessions: 3,
}
const one = {
  session_id: `ses_${'a'.repeat(26)}`,
  first_request_id: `guardreq_${'b'.repeat(26)}`,
  step: 12,
  code: 'LOOP_ERROR_RETRY',
  rule_id: 'error_retry',
  requests_after: 1_234,
  tokens_after: 1_234_567,
  results_equal: true,
}
const simulation = {
  sessions: 1,
  requests: 20,
  mode: 'enforce',
  flagged: [one],
  rules: [rule],
} as unknown as Simulation

test('a simulation fits the terminal: columns that matter least are left out, ids are cut', () => {
  const lines = simulationLines(simulation, 80)
  for (const line of lines) assert.ok(line.length <= 80, line)
  assert.ok(lines.some((line) => /^ses_…a+… {2}guar…b+… {2}12 /.test(line)))
  assert.ok(lines.some((line) => /^error_retry +12 /.test(line)))
})

test('where it goes elsewhere, nothing is left out', () => {
  assert.match(simulationLines(simulation, undefined).join('\n'), /LOOP_ERROR_RETRY +error_retry +1\.2k +1\.2M +yes/)
})
