import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { playground, type Scenario, scenariosOf } from 'guard-gateway/plugins/playground'
import { foundation } from 'guard-gateway/presets/foundation'
import { type House, inHouse, openHouse, type RanStep, type Run } from './kit.ts'

const gateway = new Gateway().use(...foundation())
playground().apply(gateway)
const scenarios: readonly Scenario[] = [...scenariosOf(gateway)]
const styles = ['chat_completions', 'messages', 'responses']
const modes = ['shadow', 'enforce'] as const

const stylesFor = ({ kind, steps }: Scenario): readonly (string | undefined)[] =>
  kind === 'mcp' || steps.every((step) => step.do === 'request' && step.style !== undefined) ? [undefined] : styles

/** Where the rules speak, by step: what the scenarios promise, written once more. */
const reasons: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  'exact-loop': { 3: 'LOOP_EXACT', 4: 'LOOP_EXACT' },
  'tool-loop': { 4: 'LOOP_TOOL_CALL' },
  'no-progress': { 7: 'LOOP_NO_PROGRESS' },
  'tool-error-loop': { 5: 'LOOP_TOOL_ERROR' },
  'stale-loop': { 7: 'LOOP_STALE' },
  'reread-loop': { 8: 'LOOP_REREAD' },
  'respawn-loop': { 16: 'LOOP_RESPAWN' },
  'text-loop': { 4: 'LOOP_TEXT' },
  'complaint-loop': { 5: 'LOOP_WORDED_ERROR' },
  'reworded-loop': { 4: 'LOOP_REWORDED' },
  'reasoning-loop': { 4: 'LOOP_REASONING' },
  'error-retry': { 6: 'LOOP_ERROR_RETRY' },
  'sequence-loop': { 12: 'LOOP_SEQUENCE' },
  'request-limit': { 6: 'LIMIT_REQUESTS' },
  'token-limit': { 4: 'LIMIT_TOKENS' },
  'cost-limit': { 4: 'LIMIT_COST' },
  recovery: { 3: 'LOOP_EXACT' },
  'flag-only': { 3: 'LOOP_EXACT' },
  'steered-loop': { 4: 'LOOP_TOOL_CALL', 5: 'LOOP_TOOL_CALL' },
  'paused-loop': { 4: 'LOOP_TOOL_CALL', 5: 'LOOP_TOOL_CALL' },
  'paused-session': { 3: 'PAUSED_SESSION' },
  'paused-agent': { 3: 'PAUSED_AGENT' },
  'three-styles': { 3: 'LOOP_EXACT', 6: 'LOOP_EXACT', 9: 'LOOP_EXACT' },
}

/** Where it is another one once the rules are enforced. */
const enforcedReasons: typeof reasons = { 'paused-loop': { 4: 'LOOP_TOOL_CALL', 5: 'PAUSED_SESSION' } }

/** What is said of each MCP call in enforce mode, by scenario: the action, `>` where the call is forwarded, and the reason. */
const judged: Readonly<Record<string, readonly string[]>> = {
  'mcp-allow': ['allow >'],
  'mcp-deny': ['deny MCP_DENIED'],
  'mcp-confirm': ['confirm MCP_CONFIRM', 'confirm > MCP_CONFIRM', 'confirm MCP_CONFIRM'],
  'mcp-confirm-session': [
    'confirm MCP_CONFIRM',
    'confirm > MCP_CONFIRM',
    'confirm > MCP_CONFIRM',
    'confirm MCP_CONFIRM',
  ],
  'mcp-confirm-denied': ['confirm MCP_CONFIRM', 'confirm MCP_DENIED'],
  'mcp-transform': ['transform >'],
  'mcp-rate-limit': ['allow >', 'allow >', 'allow >', 'rate_limit MCP_RATE_LIMIT'],
  'mcp-shadow-deny': ['shadow_deny > MCP_DENIED'],
  'mcp-invalid-arguments': ['invalid MCP_INVALID_ARGUMENTS'],
  'mcp-unknown-tool': ['allow >', 'confirm MCP_CONFIRM'],
  'mcp-changed-tool': ['allow >', 'confirm MCP_PIN_CHANGED'],
  'mcp-path': ['allow >', 'deny MCP_DENIED', 'deny MCP_DENIED'],
  'mcp-shell': ['allow >', 'deny MCP_DENIED', 'deny MCP_DENIED'],
  'mcp-http': ['allow >', 'deny MCP_DENIED', 'deny MCP_DENIED'],
  'mcp-sql': ['allow >', 'deny MCP_DENIED', 'deny MCP_DENIED'],
  'mcp-size': ['allow >', 'deny MCP_DENIED', 'deny MCP_DENIED'],
}

const judgedIn = ({ steps }: Run): readonly string[] =>
  steps.flatMap(({ action, forwarded, reason }) =>
    action === null ? [] : [[action, forwarded === true ? '>' : null, reason].filter(Boolean).join(' ')],
  )

const reasonsIn = ({ steps }: Run): object =>
  Object.fromEntries(steps.flatMap(({ index, reason }) => (reason === null ? [] : [[index, reason]])))

const spokenAsPromised = ({ kind, id }: Scenario, run: Run): void => {
  if (kind === 'model')
    assert.deepEqual(reasonsIn(run), (run.mode === 'enforce' ? enforcedReasons[id] : undefined) ?? reasons[id] ?? {})
  else if (run.mode === 'enforce') assert.deepEqual(judgedIn(run), judged[id])
  else assert.ok(run.steps.every(({ forwarded, action }) => forwarded !== false || action === 'invalid'))
}

/** What must be the same each time. */
const outcomesOf = ({ status, matched, steps }: Run): object => ({
  status,
  matched,
  steps: steps.map(({ request_id: _id, repeats, approval_id, trace_id, span_id, ...step }) => ({
    ...step,
    repeats: repeats !== null,
    asked: approval_id !== null,
    placed: trace_id !== null && span_id !== null,
    duration_ms: 0,
  })),
})

const storyOf = (run: Run): string =>
  [run.status, run.error?.message, ...run.steps.map(lineOf)].filter((line) => line !== undefined).join('\n')

const lineOf = ({ index, what, missed, ...seen }: RanStep): string =>
  `${index} ${what}: ${seen.http_status} ${seen.decision ?? seen.action} ${seen.forwarded} ${seen.reason} ${seen.outcome} missed [${missed.join(', ')}]`

describe('every scenario ends as it says, each time', () => {
  let house: House
  before(async () => {
    // what a project is set to does not change how a scenario ends
    house = await openHouse({ default_mode: 'enforce' })
  })
  after(() => house.close())

  for (const scenario of scenarios) {
    for (const mode of modes) {
      for (const style of stylesFor(scenario)) {
        it(`${scenario.id}, ${mode}, ${style ?? 'its own styles'}`, async () => {
          const order = { scenario: scenario.id, mode, ...(style === undefined ? {} : { style }) }
          const first = await house.run(order)
          assert.equal(first.matched, true, storyOf(first))
          assert.equal(first.status, 'completed')
          assert.equal(first.style, style ?? null)
          assert.equal(first.steps_done, scenario.steps.length)
          assert.deepEqual(
            first.steps.map(({ index }) => index),
            scenario.steps.map((_, place) => place + 1),
          )
          spokenAsPromised(scenario, first)
          const second = await house.run(order)
          assert.deepEqual(outcomesOf(second), outcomesOf(first))
          assert.notDeepEqual(second.trace_ids, first.trace_ids)
          assert.deepEqual(house.faults, [])
        })
      }
    }
  }

  it('is on record like other traffic', async () => {
    const run = await house.run({ scenario: 'exact-loop', mode: 'enforce' })
    const { body } = await house.ask<{ session: Record<string, unknown> }>('GET', `/api/sessions/${run.session_id}`)
    assert.equal(body.session.project_id, 'playground-exact-loop')
    assert.equal(body.session.agent_id, 'playground')
    assert.equal(body.session.external_id, `playground-${run.id}`)
    assert.equal(body.session.requests, 2)
    const { rows } = await house.gateway.storage.find('calls', {
      where: { session_id: run.session_id },
      order: ['recorded', 'asc'],
    })
    // the fourth request repeats the third, which was blocked: it is counted there
    assert.deepEqual(
      rows.map(({ id }) => id),
      run.steps.slice(0, 3).map(({ request_id }) => request_id),
    )
    assert.deepEqual(
      rows.map(({ upstream, mode, outcome, retries }) => ({ upstream, mode, outcome, retries })),
      [
        { upstream: 'playground', mode: 'enforce', outcome: 'ok', retries: 0 },
        { upstream: 'playground', mode: 'enforce', outcome: 'ok', retries: 0 },
        { upstream: 'playground', mode: 'enforce', outcome: 'blocked', retries: 1 },
      ],
    )
    assert.equal(run.steps[3]?.repeats, run.steps[2]?.request_id)
    assert.equal(run.steps[2]?.rule_id, 'exact_repeat')
  })
})

describe('MCP scenarios in the records', () => {
  it('are in the audit and in Replay like calls of clients, each step at its span', () =>
    inHouse(async (house) => {
      const run = await house.run({ scenario: 'mcp-confirm', mode: 'enforce' })
      assert.equal(run.matched, true, storyOf(run))
      const calls = run.steps.filter(({ action }) => action !== null)
      const [trace_id] = run.trace_ids
      assert.equal(run.replay_url, `/replay/${trace_id}`)
      const { body: shown } = await house.ask<{
        run: Record<string, unknown>
        spans: { id: string; name: string }[]
      }>('GET', `/api/v1/runs/${trace_id}`)
      assert.deepEqual([shown.run.project_id, shown.run.agent_id], ['playground-mcp-confirm', 'playground'])
      for (const { span_id } of calls) assert.equal(shown.spans.find(({ id }) => id === span_id)?.name, 'tool.call')
      const { body: audit } = await house.ask<{ events: { tool: string; action: string; mode: string }[] }>(
        'GET',
        '/api/v1/mcp/events?server_id=playground-mcp-confirm&kind=decision',
      )
      assert.deepEqual(
        audit.events.map(({ tool, action, mode }) => [tool, action, mode]),
        calls.map(() => ['write_file', 'confirm', 'enforce']),
      )
      const asked = run.steps[0]?.approval_id
      const { body: approval } = await house.ask<{ status: string; decided_via: string }>(
        'GET',
        `/api/v1/mcp/approvals/${asked}`,
      )
      assert.deepEqual([approval.status, approval.decided_via], ['consumed', 'api'])
      assert.equal(run.steps[1]?.approval_id, asked)
      // the server of the scenarios is nobody else's: it is not among those that are configured
      assert.deepEqual((await house.ask<{ servers: unknown[] }>('GET', '/api/v1/mcp/servers')).body.servers, [])
    }))

  it('leave no definition behind that waits for a person, or that a person could trust', () =>
    inHouse(async (house) => {
      const order = { scenario: 'mcp-changed-tool', mode: 'enforce' }
      assert.equal((await house.run(order)).matched, true)
      assert.deepEqual((await house.ask<{ servers: unknown[] }>('GET', '/api/v1/mcp/servers')).body.servers, [])
      const path = '/api/v1/mcp/servers/playground-mcp-changed-tool/pins'
      assert.equal((await house.ask('POST', path, { tools: ['changing'] })).status, 404)
      const again = await house.run(order)
      assert.equal(again.matched, true, storyOf(again))
    }))

  it('need the proxy, and say so where there is none', () =>
    inHouse(
      async (house) => {
        const run = await house.run({ scenario: 'mcp-allow' })
        assert.deepEqual([run.status, run.error?.code], ['failed', 'MISSING_PLUGIN'])
      },
      { without: ['mcp'] },
    ))
})
