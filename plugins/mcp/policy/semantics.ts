import type { PolicyDocument } from './document.ts'
import { type PolicyFault, suggestion } from './fault.ts'

/** Calls of all tests together; they are made at each load. */
const MAX_TEST_CALLS = 50_000

/** What no schema can tell: ids that stand twice, tests that name a rule there is not. */
export const semanticFaults = ({ rules, tests = [] }: PolicyDocument): readonly PolicyFault[] => {
  const faults: PolicyFault[] = []
  const first = new Map<string, number>()
  for (const [index, { id }] of rules.entries()) {
    const before = first.get(id)
    if (before === undefined) first.set(id, index)
    else faults.push({ path: ['rules', index, 'id'], message: `"${id}" is already the id of rules/${before}` })
  }
  const known = ['default', ...first.keys()]
  for (const [index, { rule }] of tests.entries()) {
    if (rule === undefined || known.includes(rule)) continue
    faults.push({ path: ['tests', index, 'rule'], message: `there is no rule "${rule}"${suggestion(rule, known)}` })
  }
  const calls = tests.reduce((sum, { repeat = 1 }) => sum + repeat, 0)
  if (calls > MAX_TEST_CALLS)
    faults.push({ path: ['tests'], message: `make ${calls} calls, more than the ${MAX_TEST_CALLS} that are run` })
  return faults
}
