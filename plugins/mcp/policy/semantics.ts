import type { PolicyDocument, TestDocument } from './document.ts'
import { type PolicyFault, type PolicyPath, suggestion } from './fault.ts'
import { methodFaults } from './methods.ts'

/** Calls of all tests together; they are made at each load. */
const MAX_TEST_CALLS = 50_000
/** Characters of the arguments of all those calls: each call is judged again. */
const MAX_TEST_CHARACTERS = 50_000_000
/** Ids of partial verdicts that are not of rules. */
const OTHER_VOICES: ReadonlySet<string> = new Set(['pin', 'plugin'])

/** What no schema can tell: ids that occur twice or for others than rules, tests that name a rule there is not, or examine what a refused call sends. */
export const semanticFaults = (policy: PolicyDocument): readonly PolicyFault[] => {
  const { rules, tests = [] } = policy
  const faults: PolicyFault[] = [...methodFaults(policy)]
  const first = new Map<string, number>()
  for (const [index, { id }] of rules.entries()) {
    if (OTHER_VOICES.has(id)) faults.push({ path: ['rules', index, 'id'], message: `"${id}" is reserved` })
    const before = first.get(id)
    if (before === undefined) first.set(id, index)
    else faults.push({ path: ['rules', index, 'id'], message: `"${id}" is already the id of rules/${before}` })
  }
  const known = ['default', ...first.keys()]
  faults.push(...tests.flatMap((test, index) => testFaults(test, ['tests', index], known)))
  const calls = tests.reduce((sum, { repeat = 1 }) => sum + repeat, 0)
  if (calls > MAX_TEST_CALLS)
    faults.push({ path: ['tests'], message: `make ${calls} calls, more than the ${MAX_TEST_CALLS} that are run` })
  const characters = tests.reduce(
    (sum, { repeat = 1, call }) => sum + repeat * JSON.stringify(call.arguments ?? {}).length,
    0,
  )
  if (characters > MAX_TEST_CHARACTERS)
    faults.push({
      path: ['tests'],
      message: `judge ${characters} characters of arguments in all their calls, more than the ${MAX_TEST_CHARACTERS} that are judged`,
    })
  return faults
}

const testFaults = (
  { rule, sends, expect }: TestDocument,
  path: PolicyPath,
  known: readonly string[],
): readonly PolicyFault[] => {
  const faults: PolicyFault[] = []
  if (sends !== undefined && (expect === 'deny' || expect === 'rate_limit'))
    faults.push({ path: [...path, 'sends'], message: `a call with the answer ${expect} sends nothing` })
  if (rule !== undefined && !known.includes(rule))
    faults.push({ path: [...path, 'rule'], message: `there is no rule "${rule}"${suggestion(rule, known)}` })
  return faults
}
