import { isDeepStrictEqual } from 'node:util'
import type { Redactor } from 'guard-gateway/core'
import type { Arguments } from '#lib/mcp-check'
import { cutText } from '#lib/text'
import { Pace } from '#lib/time-slice'
import { MemoryLimits } from '../actions/limits.ts'
import type { Caller, ToolCall } from '../judge/tool-call.ts'
import type { Verdict } from '../judge/verdict.ts'
import type { CompiledPolicy } from './compiled.ts'
import type { TestDocument } from './document.ts'
import { judge } from './judge.ts'

/** How one of a policy's own tests went. */
export interface TestResult {
  readonly name: string
  readonly pass: boolean
  /** An action, with the other expectation of the test if that failed. */
  readonly expected: string
  readonly actual: string
  /** The winners' ids. */
  readonly rule: string
}

/** The server of tests that name none. */
const ANY_SERVER = 'test'
/** Midnight at the beginning of 2026; every call of a test comes at this time. */
const AT = Date.UTC(2026, 0, 1)

/** Runs a policy's tests in file order, as in mode enforce; nothing is stored or forwarded. */
export const runTests = async (policy: CompiledPolicy, redact: Redactor): Promise<readonly TestResult[]> => {
  const enforced: CompiledPolicy = { ...policy, mode: 'enforce' }
  const results: TestResult[] = []
  const pace = new Pace()
  for (const test of policy.document.tests ?? []) {
    if (pace.due) await pace.rest()
    results.push(await runTest(enforced, test, redact, pace))
  }
  return results
}

const runTest = async (
  policy: CompiledPolicy,
  test: TestDocument,
  redact: Redactor,
  pace: Pace,
): Promise<TestResult> => {
  const call = callOf(test)
  const rules = policy.rules.filter((rule) => rule.names(call.server_id, call.tool))
  const context = { rules, limits: new MemoryLimits(() => AT), redact }
  let verdict = await judge(policy, call, [], context)
  for (let again = 1; again < (test.repeat ?? 1); again++) {
    if (pace.due) await pace.rest()
    verdict = await judge(policy, call, [], context)
  }
  return resultOf(test, verdict, call)
}

const callOf = ({ call: { server = ANY_SERVER, tool, arguments: args = {}, ...caller } }: TestDocument): ToolCall => {
  const text = JSON.stringify(args)
  return {
    server_id: server,
    session_id: 'mcp_test',
    tool,
    caller: callerOf(caller),
    arguments: JSON.parse(text) as Arguments,
    text,
    cwd: undefined,
    at: AT,
  }
}

/** A caller of which this much is known. */
export const callerOf = ({ agent, project, session, client, key }: NamedCaller): Caller => ({
  agent: agent ?? null,
  project: project ?? null,
  session: session ?? null,
  client: client ?? null,
  key: key === undefined ? [] : [key],
})

type NamedCaller = Partial<Record<keyof Caller, string>>

const resultOf = (test: TestDocument, { action, winners, sent }: Verdict, call: ToolCall): TestResult => {
  const ids = winners.map(({ rule_id }) => rule_id)
  const rule = ids.join(', ')
  const name = test.name ?? `${call.tool} ${cutText(call.text, 200)}`
  if (action !== test.expect) return { name, pass: false, expected: test.expect, actual: action, rule }
  if (test.rule !== undefined && !ids.includes(test.rule)) {
    return {
      name,
      pass: false,
      expected: `${test.expect} by rule ${test.rule}`,
      actual: `${action} by rule ${rule}`,
      rule,
    }
  }
  const forwarded = sent?.arguments ?? call.arguments
  if (test.sends !== undefined && !isDeepStrictEqual(forwarded, JSON.parse(JSON.stringify(test.sends)))) {
    const expected = `${test.expect} sending ${JSON.stringify(test.sends)}`
    return { name, pass: false, expected, actual: `${action} sending ${JSON.stringify(forwarded)}`, rule }
  }
  return { name, pass: true, expected: test.expect, actual: action, rule }
}
