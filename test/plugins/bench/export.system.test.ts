import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { caseOf } from '../../../bench/quality/case-requests.ts'
import { loadCorpus } from '../../../bench/quality/corpus.ts'
import { runFacts } from '../../../bench/quality/run-facts.ts'
import { findSubjects } from '../../../bench/quality/subjects.ts'
import { observeAll } from '../../../bench/suites/corpus.ts'
import { exportCommand } from '../../../plugins/bench/index.ts'
import { trajectoryRoutes } from '../../../plugins/bench/routes.ts'
import { step, system, user } from '../../kit/conversation.ts'
import { call } from '../../kit/evidence.ts'
import { fakeIo } from '../../kit/io.ts'
import { newSession, startApi } from '../policy/kit.ts'

/** A gateway with one session that reads a file again and again, and the command that exports it. */
const start = async (context: TestContext) => {
  const cwd = await mkdtemp(join(tmpdir(), 'guard-bench-export-'))
  context.after(() => rm(cwd, { recursive: true, force: true }))
  const api = await startApi()
  await api.app.register(trajectoryRoutes(api.gateway), { prefix: '/api' })
  const session = newSession({ id: 'ses_loop', client: 'claude-cli/2.1', last_seen_at: api.clock.now() })
  await api.gateway.storage.put('sessions', session.row)
  const items = [system('s'), user('fix it')]
  for (let request = 0; request < 6; request++) {
    api.clock.advance(1000)
    await api.send(call({ session, items: [...items], at: api.clock.now() }))
    items.push(...step('read_file', { path: 'a.ts' }, 'const a = 1'))
  }
  const command = exportCommand((work) => work(async (method, url) => (await api.app.inject({ method, url })).json()))
  const run = async (options: Record<string, unknown>) => {
    const io = fakeIo({ cwd })
    assert.equal(await command.run({ args: [], options, rest: [] }, io), 0)
    return io
  }
  return { ...api, cwd, run }
}

test('stored conversations become trajectories that a bench plays', async (context) => {
  const { cwd, run } = await start(context)
  const io = await run({ output: 'week.jsonl', project: 'shop' })
  assert.equal(io.errText(), '1 conversation\n')
  for (const said of ['quiet', 'json']) assert.equal((await run({ [said]: true })).errText(), '')
  const text = await readFile(join(cwd, 'week.jsonl'), 'utf8')
  for (const secret of ['fix it', 'a.ts', 'const a']) assert.ok(!text.includes(secret), secret)
  const { trajectories } = await loadCorpus(cwd)
  const [one] = trajectories
  assert.deepEqual([one?.source, one?.steps.length, one?.tokens], ['claude-cli/2.1', 5, [30, 30, 30, 30, 30, 30]])
  const subjects = await findSubjects({ detectors: ['tool_repeat'], presets: [] }, cwd)
  const cases = trajectories.map((trajectory) => caseOf('corpus', trajectory))
  const [seen] = await observeAll(cases, subjects, runFacts())
  assert.deepEqual(
    [seen?.first_detection_step, seen?.reason, seen?.outcome, seen?.tokens_estimated, seen?.tokens_saved],
    [4, 'LOOP_TOOL_CALL', 'excluded', false, 30],
  )
})

test('an export keeps to times and projects, and replaces no file', async (context) => {
  const { run } = await start(context)
  assert.equal((await run({ project: 'other' })).outText(), '')
  assert.equal((await run({ since: new Date(Date.now() + 1000).toISOString() })).outText(), '')
  assert.match((await run({ since: '2026-01-01' })).outText(), /^\{"schema":"bench.trajectory.v1","id":"ses_loop\//)
  await run({ output: 'new/folder/week.jsonl' })
  await run({ output: 'once.jsonl' })
  await assert.rejects(run({ output: 'once.jsonl' }), /once\.jsonl cannot be written: it is there already \(EEXIST\)/)
  await assert.rejects(run({ since: 'lately' }), { code: 'USAGE' })
})

test('a filter that there is not is refused', async (context) => {
  const { app } = await start(context)
  const { statusCode, body } = await app.inject({ url: '/api/export/trajectories?project=shop' })
  assert.equal(statusCode, 400)
  assert.match(body, /There is no parameter \\"project\\"; there is since, project_id, limit, cursor\./)
})
