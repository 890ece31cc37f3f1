import { allowed, caught } from '../expectations.ts'
import { scenario } from '../scenario.ts'
import { agentWork, type Turn } from './agent-work.ts'

const looksAt = (what: string, path: string, returns: string): Turn => ({
  what,
  call: 'read_file',
  arguments: { path },
  returns,
})

const code = (what: string): Turn => looksAt(what, 'src/tax.ts', 'return net * 0.19')
const check = (what: string): Turn => looksAt(what, 'test/tax.ts', 'equal(gross(100), 119)')

export const staleTurns = scenario({
  id: 'stale-turns',
  title: 'Looks at what is known',
  summary:
    'Calls that were made before and get the same answers: after three of the last six turns the next request is stopped.',
  kind: 'model',
  rules: [
    { id: 'stale_turns', rule_type: 'stale_turns', threshold: 3, window_size: 6, action: 'block', enabled: true },
  ],
  steps: agentWork(
    'The test "adds tax" fails. Find out why.',
    [
      code('reads the code'),
      check('reads the test'),
      code('reads the code again'),
      check('and the test'),
      code('and the code'),
    ],
    { what: 'brings the third of these', says: 'I will look once more.' },
    (index) => (index === 6 ? caught('LOOP_STALE') : allowed),
  ),
})
