import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { simulateCommands } from '../../../../plugins/policy/simulate/command.ts'
import type { Simulation } from '../../../../plugins/policy/simulate/index.ts'
import { fakeIo } from '../../../kit/io.ts'

const answer: Simulation = {
  project_id: 'shop',
  mode: 'enforce',
  sessions: 40,
  requests: 900,
  truncated: true,
  flagged: [
    {
      session_id: 'ses_a',
      decision: 'block',
      first_request_id: 'guardreq_4',
      at: 0,
      step: 4,
      code: 'LOOP_TOOL_CALL',
      rule_id: 'tool_repeat',
      message: 'read_file was called 3 times',
      count: 3,
      results_equal: false,
      requests_after: 12,
      tokens_after: 45_000,
      cost_after_micro: 900_000,
    },
  ],
  rules: [
    {
      rule_id: 'tool_repeat',
      rule_type: 'tool_repeat',
      code: 'LOOP_TOOL_CALL',
      sessions: 1,
      share: 0.025,
      differing_results: 1,
      unseen_sessions: 0,
      requests_after: 12,
      tokens_after: 45_000,
      cost_after_micro: 900_000,
    },
  ],
  not_simulated: [
    {
      rule_id: 'chant',
      reason: 'no_reply_text',
      sessions: 40,
      requests: 900,
      message: 'What "chant" looks at was not recorded.',
    },
  ],
}

const start = async (context: TestContext) => {
  const cwd = await mkdtemp(join(tmpdir(), 'guard-simulate-'))
  context.after(() => rm(cwd, { recursive: true, force: true }))
  const sent: { readonly method: string; readonly path: string; readonly body: unknown }[] = []
  const commands = simulateCommands({
    asking: (work) =>
      work(async (method, path, body) => {
        sent.push({ method, path, body })
        return answer
      }),
    presets: async () => ({ default: [] }),
    opened: () => assert.fail('no file is tried'),
    summaries: {},
    calledAs: 'guard',
  })
  const run = async (id: string, args: readonly string[], options: Record<string, unknown> = {}) => {
    const io = fakeIo({ cwd })
    const code = await commands.find((one) => one.id === id)?.run({ args, options, rest: [] }, io)
    return { code, out: io.outText(), err: io.errText() }
  }
  return { cwd, sent, run }
}

test('policy simulate sends the rules of a file and tells who would have been stopped', async (context) => {
  const { cwd, sent, run } = await start(context)
  await writeFile(join(cwd, 'rules.yml'), '- { rule_type: tool_repeat, threshold: 3 }\n')
  const options = { project: 'shop', mode: 'enforce', since: '7d', limit: '40' }
  const { code, out, err } = await run('policy simulate', ['rules.yml'], options)
  assert.equal(code, 0)
  const body = { rules: [{ rule_type: 'tool_repeat', threshold: 3 }], mode: 'enforce', since: '7d', limit: 40 }
  assert.deepEqual(sent, [{ method: 'POST', path: '/api/policies/shop/simulate', body }])
  assert.match(out, /^40 sessions, 900 requests: 1 stopped or flagged\n/)
  assert.match(out, /tool_repeat +1 +2\.5 % +12 +45\.0k +0\.9 +1\n/)
  assert.match(out, /ses_a +guardreq_4 +4 +LOOP_TOOL_CALL +tool_repeat +12 +45\.0k +no\n/)
  assert.match(err, /What "chant" looks at was not recorded\.\nThere is more/)
})

test('policies simulate is the same, takes presets and answers as JSON', async (context) => {
  const { sent, run } = await start(context)
  const { out } = await run('policies simulate', ['default'], { json: true })
  assert.deepEqual(JSON.parse(out), answer)
  assert.deepEqual(sent, [{ method: 'POST', path: '/api/policies/default/simulate', body: { preset: 'default' } }])
})

test('policy simulate refuses what is neither a preset nor a policy', async (context) => {
  const { cwd, run } = await start(context)
  await assert.rejects(
    run('policy simulate', ['strict']),
    /"strict" names no preset, and there is no such file; presets are default/,
  )
  await writeFile(join(cwd, 'words.yml'), 'only words\n')
  await assert.rejects(run('policy simulate', ['words.yml']), { code: 'INVALID_POLICY' })
})
