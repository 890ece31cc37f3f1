import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { Gateway, type Plugin } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { messages } from 'guard-gateway/plugins/api-styles/messages'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { contentChant } from 'guard-gateway/plugins/detectors/content-chant'
import { errorRetry } from 'guard-gateway/plugins/detectors/error-retry'
import { maxCost } from 'guard-gateway/plugins/detectors/max-cost'
import { maxTokens } from 'guard-gateway/plugins/detectors/max-tokens'
import { noveltyStall } from 'guard-gateway/plugins/detectors/novelty-stall'
import { reasoningOnly } from 'guard-gateway/plugins/detectors/reasoning-only'
import { toolRepeat } from 'guard-gateway/plugins/detectors/tool-repeat'
import { claudeCode } from 'guard-gateway/plugins/import-formats/claude-code'
import { codex } from 'guard-gateway/plugins/import-formats/codex'
import { otlpLines } from 'guard-gateway/plugins/import-formats/otlp-lines'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { foundation } from 'guard-gateway/presets/foundation'
import { simulateCommands } from '../../../../plugins/policy/simulate/command.ts'
import type { Simulation } from '../../../../plugins/policy/simulate/simulation.ts'
import { fakeIo } from '../../../kit/io.ts'
import { reply, user } from '../../import-formats/claude-code-lines.ts'

const data = join(import.meta.dirname, '../../../data')
const sessions = join(data, 'session-files')
const CLAUDE_LOOP = '00000002-0000-4000-8000-000000000001'
const CODEX_LOOP = '00000005-0000-4000-8000-000000000001'

/** Prices every request at 1000 millionths. */
const prices: Plugin = {
  name: 'prices',
  apply(gateway) {
    gateway.hooks.trace.tap('prices', (fragment) => ({
      ...fragment,
      spans: fragment.spans.map((span) => ({
        ...span,
        attributes: { ...span.attributes, 'guard.cost_source': 'priced', 'guard.cost_micro': 1_000 },
      })),
    }))
  },
}

const detectors = [toolRepeat, noveltyStall, maxTokens, maxCost, errorRetry, reasoningOnly, contentChant]
const styles = [messages, responses, chatCompletions]

describe('guard policy simulate --import', () => {
  let cwd: string
  before(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'guard-imported-'))
  })
  after(() => rm(cwd, { recursive: true, force: true }))

  const simulate = async (
    rules: readonly object[],
    paths: string | readonly string[],
    { priced = true, ...options }: Readonly<Record<string, unknown>> = {},
  ) => {
    await writeFile(join(cwd, 'rules.yml'), JSON.stringify(rules))
    const plugins = [...foundation(), memory(), ...detectors, ...styles, claudeCode, codex, otlpLines]
    const [command = assert.fail()] = simulateCommands({
      asking: () => assert.fail('nothing stored is asked for'),
      opened: async (work) => work(new Gateway().use(...plugins, ...(priced === true ? [prices] : []))),
      presets: async () => ({}),
      summaries: {},
      calledAs: 'guard',
    })
    const io = fakeIo({ cwd })
    const input = { args: ['rules.yml'], options: { import: paths, json: true, mode: 'enforce', ...options }, rest: [] }
    const code = await command.run(input, io)
    return { code, err: io.errText(), ...(JSON.parse(io.outText()) as Simulation) }
  }
  const verdicts = ({ flagged }: Simulation) =>
    flagged.map(({ session_id, step, code, decision }) => [session_id, step, code, decision])

  it('says which sessions of a folder would have been stopped, at which request, and what came after', async () => {
    const found = await simulate([{ rule_type: 'tool_repeat', threshold: 3, window_size: 8 }], sessions)
    assert.deepEqual(verdicts(found), [
      [CLAUDE_LOOP, 4, 'LOOP_TOOL_CALL', 'block'],
      [CODEX_LOOP, 4, 'LOOP_TOOL_CALL', 'block'],
    ])
    assert.deepEqual([found.code, found.sessions, found.not_simulated], [0, 5, []])
    const [{ requests_after, tokens_after, cost_after_micro, results_equal } = assert.fail()] = found.flagged
    assert.deepEqual([requests_after, cost_after_micro, results_equal], [5, 5_000, true])
    assert.ok(tokens_after > 5_000)
    const shadow = await simulate([{ rule_type: 'tool_repeat', threshold: 3, window_size: 8 }], sessions, {
      mode: 'shadow',
    })
    assert.deepEqual(
      shadow.flagged.map(({ decision }) => decision),
      ['shadow_flag', 'shadow_flag'],
    )
  })

  it('shows detectors the words of results, and replies', async () => {
    const stalled = await simulate([{ rule_type: 'novelty_stall', threshold: 4, window_size: 12 }], sessions)
    assert.deepEqual(
      stalled.flagged.map(({ session_id }) => session_id),
      [CLAUDE_LOOP, CODEX_LOOP],
    )
    const chant = [{ type: 'text', text: 'I will now check this again. '.repeat(200) }]
    const think = [{ type: 'thinking', thinking: 'hm' }]
    const at = (second: number) => ({ timestamp: `2026-01-01T00:00:0${second}.000Z` })
    const file = (content: readonly object[]) =>
      [0, 2, 4, 6].map((second) => user('Go.', at(second)) + reply(`m${second}`, content, at(second + 1))).join('')
    await writeFile(join(cwd, 'chant.jsonl'), file(chant))
    await writeFile(join(cwd, 'think.jsonl.gz'), gzipSync(file(think)))
    const rules = [
      { rule_type: 'content_chant', action: 'flag' },
      { rule_type: 'reasoning_only', threshold: 3, action: 'flag' },
    ]
    assert.deepEqual(
      (await simulate(rules, 'chant.jsonl')).flagged.map(({ step, code }) => [step, code]),
      [[1, 'LOOP_CONTENT']],
    )
    assert.deepEqual(
      (await simulate(rules, 'think.jsonl.gz')).flagged.map(({ step, code }) => [step, code]),
      [[4, 'LOOP_REASONING']],
    )
  })

  it('counts tokens and costs, told ones too, and says what has no price', async () => {
    const tokens = await simulate([{ rule_type: 'max_tokens', threshold: 3_000 }], join(sessions, 'codex/work'))
    assert.deepEqual(verdicts(tokens), [['00000004-0000-4000-8000-000000000001', 4, 'LIMIT_TOKENS', 'block']])
    const rules = [{ rule_type: 'max_cost', threshold: 2_000 }]
    assert.equal((await simulate(rules, join(sessions, 'codex/work'))).flagged[0]?.step, 3)
    const free = await simulate(rules, join(sessions, 'codex/work'), { priced: false })
    assert.deepEqual(
      [free.flagged, free.not_simulated.map(({ reason, requests }) => [reason, requests])],
      [[], [['no_price', 5]]],
    )
    await writeFile(
      join(cwd, 'told.jsonl'),
      user('Go.') + reply('a', [], { costUSD: 0.01 }) + user('Go on.') + reply('b', []),
    )
    assert.equal((await simulate(rules, 'told.jsonl', { priced: false })).flagged[0]?.step, 2)
  })

  it('counts failed requests', async () => {
    const failed = (second: number) =>
      reply(`e${second}`, [{ type: 'text', text: 'API Error: 529 overloaded' }], {
        isApiErrorMessage: true,
        error: 'server_error',
        timestamp: `2026-01-01T00:00:0${second}.000Z`,
      })
    await writeFile(join(cwd, 'failing.jsonl'), user('Go.') + [1, 2, 3, 4, 5].map(failed).join(''))
    const { flagged } = await simulate([{ rule_type: 'error_retry', threshold: 3 }], 'failing.jsonl')
    assert.deepEqual(
      flagged.map(({ step, code }) => [step, code]),
      [[4, 'LOOP_ERROR_RETRY']],
    )
  })

  it('judges limits in traces, and says that their conversations are not known', async () => {
    const rules = [
      { rule_type: 'max_tokens', threshold: 200 },
      { rule_type: 'tool_repeat', threshold: 2 },
    ]
    const found = await simulate(rules, join(data, 'trace-files/collector.jsonl'))
    // two runs of one session, as the sender has it
    assert.deepEqual(verdicts(found), [['s-1', 3, 'LIMIT_TOKENS', 'block']])
    assert.deepEqual(
      found.not_simulated.map(({ rule_id, reason, requests }) => [rule_id, reason, requests]),
      [['tool_repeat', 'no_conversation', 4]],
    )
  })

  it('keeps to a time, a number of sessions and a project, and says that rules about periods were not tried', async () => {
    const rules = [{ rule_type: 'max_tokens', threshold: 1, params: { scope: 'project', per: 'day' } }]
    const found = await simulate(rules, [join(sessions, 'codex'), join(sessions, 'claude-code')], {
      limit: '2',
      project: 'shop',
    })
    assert.deepEqual([found.sessions, found.truncated, found.project_id], [2, true, 'shop'])
    assert.deepEqual(
      found.not_simulated.map(({ reason }) => reason),
      ['beyond_session'],
    )
    assert.equal((await simulate(rules, sessions, { since: '2026-02-01T00:00:00Z' })).sessions, 0)
    assert.equal((await simulate(rules, sessions, { until: '2025-02-01T00:00:00Z' })).sessions, 0)
  })

  it('refuses a single file that it cannot read, and goes on beside one of several', async () => {
    await writeFile(join(cwd, 'other.json'), '{"a":1}')
    await writeFile(join(cwd, 'broken.jsonl'), '{"type":"user","sessionId":"s","timestamp":1}\n')
    const rules = [{ rule_type: 'tool_repeat', threshold: 3 }]
    await assert.rejects(simulate(rules, 'other.json'), {
      code: 'INVALID_IMPORT',
      message: /of no known format; there is Claude Code/,
    })
    await assert.rejects(simulate(rules, 'broken.jsonl'), { code: 'INVALID_IMPORT', message: /^Line 1, \/timestamp/ })
    await assert.rejects(simulate(rules, 'nothing.jsonl'), { code: 'USAGE' })
    await assert.rejects(simulate([{ rule_type: 'x' }], sessions), { code: 'INVALID_POLICY' })
    const { code, err, sessions: count } = await simulate(rules, ['broken.jsonl', join(sessions, 'codex/work')])
    assert.deepEqual([code, count], [1, 1])
    assert.match(err, /^broken\.jsonl: Line 1, \/timestamp/m)
  })
})
