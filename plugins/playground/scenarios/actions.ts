import type { Rule } from 'guard-gateway/core'
import { allowed, caught, done } from '../expectations.ts'
import { type Expect, type ModelStep, scenario } from '../scenario.ts'
import { agentWork, type Turn } from './agent-work.ts'

const TASK = 'The test "adds tax" fails. Find out why.'

const rule = (action: string): Rule => ({
  id: 'tool_repeat',
  rule_type: 'tool_repeat',
  threshold: 3,
  window_size: 8,
  action,
  enabled: true,
})

const reads = (what: string): Turn => ({
  what,
  call: 'read_file',
  arguments: { path: 'src/tax.ts' },
  returns: 'return net * 0.19',
})

const again: readonly Turn[] = ['reads a file', 'reads it again', 'and again', 'and again'].map(reads)

/** Flagged and forwarded in both modes: where it is enforced, with a word to the model. */
const NUDGED = { decision: 'shadow_flag', reason: 'LOOP_TOOL_CALL', status: 200, outcome: 'ok' } as const

export const steeredLoop = scenario({
  id: 'steered-loop',
  title: 'A nudge before a stop',
  summary:
    'The action steer tells the model of the repetition first; where the same loop goes on, the next request is stopped.',
  kind: 'model',
  rules: [rule('steer')],
  steps: agentWork(
    TASK,
    again,
    { what: 'brings the same result once more', says: 'I will read it again.' },
    (index) => {
      if (index < 4) return allowed
      return index === 4 ? { shadow: NUDGED, enforce: NUDGED } : caught('LOOP_TOOL_CALL')
    },
  ),
})

/** Refused with 409, with this reason, where it is enforced. */
const waits = (reason: string): Expect => ({
  shadow: NUDGED,
  enforce: { decision: 'block', reason, status: 409, outcome: 'blocked', sees: '/resume' },
})

const stuck: readonly ModelStep[] = agentWork(
  TASK,
  again,
  { what: 'tries once more', says: 'I will read it again.' },
  (index) => (index < 4 ? allowed : waits(index === 4 ? 'LOOP_TOOL_CALL' : 'PAUSED_SESSION')),
)

export const pausedLoop = scenario({
  id: 'paused-loop',
  title: 'A question before a stop',
  summary: 'The action pause lets the session of a loop wait for a person; a resume resets the loop rules.',
  kind: 'model',
  rules: [rule('pause')],
  steps: [
    ...stuck,
    { what: 'a person lets it go on', do: 'resume', target: 'session', expect: done },
    ...stuck.slice(-1).map((step): ModelStep => ({ ...step, what: 'the same request after that', expect: allowed })),
  ],
})
