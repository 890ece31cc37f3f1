import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GuardError, type Plugin } from 'guard-gateway/core'
import { sessionErrors } from '../../../plugins/sessions/error-codes.ts'
import { ask, jsonOf, start, styles } from './kit.ts'

/** Blocks every call as a rule or a pause does. */
const blocking = (status: 409 | 429): Plugin => ({
  name: 'blocking',
  apply: (gateway) =>
    gateway.hooks.decision.tap('blocking', (decision) => ({
      ...decision,
      decision: 'block',
      status,
      reason: status === 429 ? 'LOOP_EXACT' : 'PAUSED_SESSION',
      rule_id: status === 429 ? 'exact_repeat' : '',
      message: 'Guard blocked this request: it came three times.',
    })),
})

describe('a blocked request', () => {
  for (const [status, code, rule_id] of [
    [429, 'LOOP_EXACT', 'exact_repeat'],
    [409, 'PAUSED_SESSION', ''],
  ] as const) {
    it(`is answered with ${status} in the path's dialect, also where a stream was asked for; nothing goes up`, async () => {
      await using running = await start({ plugins: [blocking(status)] })
      for (const [path, body] of styles) {
        const got = await ask(running.port, { path, body: { ...body, stream: true } })
        const { 'x-guard-request-id': id, 'retry-after': retryAfter, ...headers } = got.headers
        assert.deepEqual([got.status, headers['content-type'], retryAfter], [status, 'application/json', undefined])
        assert.deepEqual([headers['x-should-retry'], headers['x-request-id'], headers['request-id']], ['false', id, id])
        assert.deepEqual([headers['x-guard-decision'], headers['x-guard-reason']], ['block', code])
        const { error, ...rest } = jsonOf(got)
        assert.deepEqual([error.type, error.code, error.rule_id], ['guard_block', code, rule_id])
        assert.deepEqual(rest, path.includes('messages') ? { type: 'error', request_id: id } : {})
      }
      assert.equal(running.provider.requests.length, 0)
      assert.deepEqual(new Set(running.settled.map(({ outcome }) => outcome)), new Set(['blocked']))
    })
  }
  it('gets the status that the configuration has for its client, with body and code as ever', async () => {
    const block_status_override = { 'opencode/*': 403, 'special*agent': 400 }
    await using running = await start({ plugins: [blocking(429)], server: { block_status_override } })
    for (const [agent, status] of [
      ['opencode/1.2', 403],
      ['special coding agent', 400],
      ['claude-cli/2.0', 429],
      ['x-opencode/1', 429],
    ] as const) {
      const got = await ask(running.port, { body: styles[0][1], headers: { 'user-agent': agent } })
      assert.deepEqual([got.status, jsonOf(got).error.code], [status, 'LOOP_EXACT'])
      assert.equal(running.settled.at(-1)?.status, status)
    }
  })
  it('gets 403 where its client is known to repeat others without end, unless the configuration says otherwise', async () => {
    const agents: readonly (readonly [agent: string, status: number])[] = [
      ['opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14', 403],
      ['Kilo-Code/7.7.7 ai-sdk/provider-utils/4.0.27 runtime/bun/1.3.14', 403],
      ['QwenCode/0.24.4 (linux; x64)', 403],
      ['ai-sdk/openai-compatible/3.0.37 ai-sdk/provider-utils/5.0.30 runtime/bun/1.3.13', 403],
      ['ai/7.0.173 ai-sdk/provider-utils/5.0.30', 403],
      // a class name of the OpenAI SDK that was cut short
      ['ls/JS 5.23.2', 403],
      ['e/JS 6.1.0', 403],
      ['OpenAI/JS 6.1.0', 429],
      ['Anthropic/JS 0.70.0', 429],
      ['claude-cli/2.1.330 (external, cli)', 429],
      ['codex_exec/0.169.0', 429],
      ['kilo/latest/7.7.7/cli ai-sdk/provider-utils/4.0.27 runtime/bun/1.3.14', 403],
      ['pi-coding-agent', 403],
      ['my-opencode/1', 429],
      ['air/1', 429],
      ['', 429],
    ]
    const told = async (block_status_override: Readonly<Record<string, number | null>>) => {
      await using running = await start({ plugins: [blocking(429)], server: { block_status_override } })
      const got: number[] = []
      for (const [agent] of agents)
        got.push((await ask(running.port, { body: styles[0][1], headers: { 'user-agent': agent } })).status)
      return got
    }
    const builtIn = agents.map(([, status]) => status)
    assert.deepEqual(await told({}), builtIn)
    assert.deepEqual(await told({ 'opencode/*': null }), [429, ...builtIn.slice(1)])
    assert.deepEqual(await told({ 'QwenCode/*': 400, 'Q*': 402 }), [403, 403, 400, ...builtIn.slice(3)])
    assert.deepEqual(
      await told({ '*': null }),
      agents.map(() => 429),
    )
  })
  it('gets that status for a pause, too', async () => {
    await using running = await start({ plugins: [blocking(409)] })
    const headers = { 'user-agent': 'opencode/1.2' }
    assert.equal((await ask(running.port, { body: styles[0][1], headers })).status, 403)
  })
  it('gets that status also beside the guarded paths; other errors keep theirs', async () => {
    const refusing = (error: GuardError): Plugin => ({
      name: 'refusing',
      apply: (gateway) => gateway.hooks.proxy.tapPromise({ name: 'refusing', stage: -1 }, () => Promise.reject(error)),
    })
    const block = { session_id: 'ses_a', rule_id: '' }
    for (const [error, status] of [
      [new GuardError(sessionErrors.PAUSED_SESSION, undefined, { block }), 403],
      [new GuardError('NO_UPSTREAM'), 404],
    ] as const) {
      const block_status_override = { 'opencode/*': 403 }
      await using running = await start({ plugins: [refusing(error)], server: { block_status_override } })
      const headers = { 'user-agent': 'opencode/1.2' }
      const got = await ask(running.port, { path: '/v1/messages/count_tokens', body: styles[1][1], headers })
      assert.deepEqual([got.status, jsonOf(got).error.code], [status, error.code])
    }
  })
})
