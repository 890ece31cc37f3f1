import { random } from '../kit/random.ts'
import { KEY } from '../load/gateway-process.ts'
import { type Ask, scriptOf } from './exact-script.ts'
import { type Fleet, setPolicy } from './fleets.ts'
import { runSql } from './postgres.ts'

/** Whether several processes decide as one does. */
export interface ExactResult {
  readonly processes: number
  readonly agents: number
  /** Requests with planted loops, and those of them that were blocked. */
  readonly requests: number
  readonly blocked: number
  /** Requests against the budget of a project, its limit, and those that were forwarded. */
  readonly budget_requests: number
  readonly budget_limit: number
  readonly budget_passed: number
  /** Empty if everything is exact. */
  readonly failures: readonly string[]
}

/** Status, decision and rule of a response. */
type Answer = readonly [status: number, decision: string, reason: string]

const LOOPS = 'bench_loops'
const TEAM = 'bench_team'
/** A request that hangs fails the bench. */
const LIMIT_MS = 60_000
const MAX_SHOWN = 5
/** Sessions that agents share while they use up the budget. */
const SHARED = 9

const loops = [
  { id: 'loop', rule_type: 'exact_repeat', action: 'block', threshold: 3, window_size: 10 },
  { id: 'tools', rule_type: 'tool_repeat', action: 'block', threshold: 3, window_size: 8 },
  { id: 'most', rule_type: 'max_requests', action: 'block', threshold: 18 },
]
const team = (threshold: number) => ({
  ...{ id: 'team', rule_type: 'max_requests', action: 'block', threshold },
  params: { scope: 'project', per: 'month' },
})

/**
 * Half of the requests hold planted loops: agents send them at once, each to any process, and then one after another to
 * one gateway on SQLite, whose decisions must be the same. The other half meets a budget that is too small for it.
 */
export const measureExact = async (
  fleet: Fleet,
  alone: Fleet,
  { agents, requests }: { readonly agents: number; readonly requests: number },
): Promise<ExactResult> => {
  const each = Math.max(1, Math.floor(requests / 2 / agents))
  const failures: string[] = []
  for (const one of [fleet, alone]) await setPolicy(one, LOOPS, 'enforce', loops)
  const scripts = Array.from({ length: agents }, (_, agent) => scriptOf(agent, each))
  const next = random(7)
  const ask = (one: Fleet, project: string, asked: Ask) => answerOf(one, next, project, asked)
  const together = await Promise.all(scripts.map((script) => inOrder(script, (asked) => ask(fleet, LOOPS, asked))))
  const expected = await Promise.all(scripts.map((script) => inOrder(script, (asked) => ask(alone, LOOPS, asked))))
  failures.push(...differences(scripts, together, expected))
  failures.push(...(await sumsThatDisagree(fleet.url)))

  const limit = Math.max(1, Math.floor(each * agents * 0.6))
  await setPolicy(fleet, TEAM, 'enforce', [team(limit)])
  const answers = await Promise.all(
    Array.from({ length: agents }, (_, agent) => inOrder(teamScript(agent, each), (asked) => ask(fleet, TEAM, asked))),
  )
  const passed = answers.flat().filter(([, decision]) => decision === 'allow').length
  if (passed !== limit) failures.push(`a budget of ${limit} requests let ${passed} pass`)
  failures.push(...(await budgetThatDisagrees(fleet.url, limit)))
  return {
    processes: fleet.children.length,
    agents,
    requests: each * agents,
    blocked: together.flat().filter(([, decision]) => decision === 'block').length,
    budget_requests: each * agents,
    budget_limit: limit,
    budget_passed: passed,
    failures,
  }
}

const teamScript = (agent: number, requests: number): readonly Ask[] =>
  Array.from({ length: requests }, (_, at) => ({
    session: `team-${agent % SHARED}`,
    body: { model: 'bench-model', messages: [{ role: 'user', content: `${agent} asks ${at}` }] },
  }))

const inOrder = async (script: readonly Ask[], ask: (asked: Ask) => Promise<Answer>): Promise<readonly Answer[]> => {
  const answers: Answer[] = []
  for (const asked of script) answers.push(await ask(asked))
  return answers
}

const answerOf = async (
  { ports }: Fleet,
  next: () => number,
  project: string,
  { session, body }: Ask,
): Promise<Answer> => {
  const port = ports[Math.floor(next() * ports.length)]
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    signal: AbortSignal.timeout(LIMIT_MS),
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${KEY}`,
      'x-guard-project-id': project,
      'x-guard-session-id': session,
    },
    body: JSON.stringify(body),
  })
  await answer.arrayBuffer()
  const header = (name: string): string => answer.headers.get(name) ?? ''
  return [answer.status, header('x-guard-decision'), header('x-guard-reason')]
}

/** Says at which requests the decisions differ, the first ones alone. */
export const differences = (
  scripts: readonly (readonly Ask[])[],
  together: readonly (readonly Answer[])[],
  expected: readonly (readonly Answer[])[],
): readonly string[] => {
  const found = scripts.flatMap((script, agent) =>
    script.flatMap(({ session }, at) => {
      const [got, wanted] = [together[agent]?.[at], expected[agent]?.[at]]
      if (JSON.stringify(got) === JSON.stringify(wanted)) return []
      return [
        `${session}, request ${at + 1} of its agent: ${got?.join(' ')}, where one process says ${wanted?.join(' ')}`,
      ]
    }),
  )
  const more = found.length - MAX_SHOWN
  return more > 0 ? [...found.slice(0, MAX_SHOWN), `${more} more decisions differ`] : found
}

const sumsThatDisagree = async (url: string): Promise<readonly string[]> => {
  const rows = await runSql(
    url,
    `select s.id, s.requests, count(c.id)::int as calls from sessions s
     join calls c on c.session_id = s.id and c.decision <> 'block' where s.project_id = '${LOOPS}'
     group by s.id, s.requests having s.requests <> count(c.id)`,
  )
  const open = await runSql(url, 'select id from open_calls')
  return [
    ...rows
      .slice(0, MAX_SHOWN)
      .map(({ id, requests, calls }) => `${id} counts ${requests} requests, ${calls} are on record`),
    ...(open.length > 0 ? [`${open.length} requests are still open on record`] : []),
  ]
}

const budgetThatDisagrees = async (url: string, limit: number): Promise<readonly string[]> => {
  const [row] = await runSql(
    url,
    `select (select count(*)::int from calls where project_id = '${TEAM}' and decision <> 'block') as recorded,
       (select requests::int from budget_windows where project_id = '${TEAM}' and scope = 'project') as used`,
  )
  return Object.entries(row ?? {})
    .filter(([, count]) => count !== limit)
    .map(([name, count]) => `of a budget of ${limit} requests ${count} are ${name}`)
}
