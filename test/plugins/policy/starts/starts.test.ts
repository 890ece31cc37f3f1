import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { Session, Settled } from 'guard-gateway/core'
import { restartLoop } from 'guard-gateway/plugins/detectors/restart-loop'
import { startGateway } from 'guard-gateway/test'
import { type Item, step, user } from '../../../kit/conversation.ts'
import { call } from '../../../kit/evidence.ts'
import { type FakeProvider, fakeProvider } from '../../../kit/provider.ts'
import { type Bench, busy, newSession, resume, startBench } from '../kit.ts'

const MINUTE = 60_000
const tools = [{ name: 'read_file' }]
const rule = { rule_type: 'restart_loop' }

const begin = (rules: readonly object[] = [rule]) =>
  startBench({ default_mode: 'enforce', defaults: rules }, [restartLoop])

let named = 0
const ofAgent = (agent_id: string | null = 'builder'): Session => {
  const id = `start-${++named}`
  return newSession({ id: `ses_${id}`, external_id: id, agent_id, client: 'agent/1.0' })
}

interface Run {
  readonly said?: string
  /** A step each, told by what its tool says. */
  readonly results?: readonly string[]
  readonly session?: Session
  readonly agent?: string | null
  readonly client?: string
  readonly over?: Partial<Settled>
}

/** A whole run of an agent in a session of its own, two minutes long: the decision about its first request, and its session. */
const run = async (
  bench: Bench,
  { said = 'fix it', results = [], agent = 'builder', client = 'agent/1.0', session = ofAgent(agent), over }: Run = {},
) => {
  const items: Item[] = [user(said)]
  const ask = (list: readonly Item[]) =>
    call({ at: bench.clock.now(), session, items: [...list], envelope: { tools }, over: { agent_id: agent, client } })
  const first = await bench.send(ask(items), over)
  for (const [n, result] of results.entries()) {
    items.push(...step('read_file', { n }, result))
    if (first.decision !== 'block') await bench.send(ask(items))
  }
  bench.clock.advance(2 * MINUTE)
  return { ...first, session }
}

const runs = async (bench: Bench, count: number, of: Run | ((n: number) => Run) = {}): Promise<string> => {
  let told = ''
  for (let n = 0; n < count; n++) {
    const { matches, decision } = await run(bench, typeof of === 'function' ? of(n) : of)
    told += decision === 'block' ? 'b' : matches.length > 0 ? 'f' : '.'
  }
  return told
}

describe('restart_loop: a shell loop', () => {
  it('is flagged from its sixth start on, where none of them uses a tool or all of them fail', async () => {
    assert.equal(await runs(await begin(), 8), '.....fff')
    assert.equal(await runs(await begin(), 8, { over: busy }), '.....fff')
  })
  it('is seen where its tools say the same each time: the first start alone brings something', async () => {
    const bench = await begin()
    assert.equal(await runs(bench, 9, { results: ['a', 'b'] }), '......fff')
    // one start that brings something new
    assert.equal(await runs(bench, 7, (n) => ({ results: ['a', n === 0 ? 'c' : 'b'] })), 'f.....f')
  })
  it('is none where every start does work, however often, nor where it runs each hour', async () => {
    const bench = await begin()
    assert.equal(await runs(bench, 12, (n) => ({ results: ['a', `line ${n}`] })), '............')
    for (let n = 0; n < 8; n++) {
      assert.equal(await runs(bench, 1, { said: 'look after the queue' }), '.')
      bench.clock.advance(58 * MINUTE)
    }
  })
  it('is told apart by agent, else by program, by project and by words', async () => {
    const bench = await begin()
    const all = (n: number): Run => {
      if (n % 4 === 0) return { agent: `agent-${n}` }
      if (n % 4 === 1) return { agent: null, client: `tool-${n}/1.0` }
      return n % 4 === 2 ? { said: `task ${n}` } : { agent: 'reviewer', said: `task ${n}` }
    }
    assert.equal(await runs(bench, 24, all), '.'.repeat(24))
    // another version is the same program
    assert.equal(await runs(bench, 7, (n) => ({ agent: null, client: `tool/1.${n} (x)` })), '.....ff')
  })
  it('is seen in one session, too, which clients that name none share', async () => {
    const bench = await begin()
    const session = ofAgent()
    assert.equal(await runs(bench, 7, { session }), '.....ff')
  })
  it('is no matter of requests without tools, nor of what else a session asks', async () => {
    const bench = await begin()
    for (let n = 0; n < 10; n++) {
      const session = ofAgent()
      const title = call({ at: bench.clock.now(), session, items: [user('a title, please')] })
      assert.deepEqual((await bench.send(title)).matches, [])
      // a task of its own each time, and a helper that always starts alike
      assert.deepEqual((await run(bench, { session, said: `task ${n}` })).matches, [])
      assert.deepEqual((await run(bench, { session, said: 'You are a helper.' })).matches, [])
    }
  })
  it('blocks where the rule does, until its starts are old enough or the session is resumed', async () => {
    const bench = await begin([{ ...rule, action: 'block' }])
    assert.equal(await runs(bench, 7), '.....bb')
    const refused = await run(bench)
    assert.equal(refused.reason, 'LOOP_RESTART')
    assert.match(refused.message, /Stop what starts it, or give it another task;/)
    resume(refused.session, bench.clock.now())
    assert.equal(await runs(bench, 1, { session: refused.session }), '.')
    bench.clock.advance(60 * MINUTE)
    assert.equal(await runs(bench, 1), '.')
  })
  it('flags unless told otherwise', async () => {
    const bench = await begin()
    await runs(bench, 5)
    const { decision, matches } = await run(bench)
    assert.deepEqual([decision, matches[0]?.action], ['shadow_flag', 'flag'])
  })
})

describe('restart_loop over a restart', () => {
  let provider: FakeProvider
  let folder = ''
  before(async () => {
    provider = await fakeProvider()
    folder = await mkdtemp(join(tmpdir(), 'guard-starts-'))
  })
  after(async () => {
    await provider.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('knows the starts on record', async (context: TestContext) => {
    const start = () => startGateway({ upstream: provider.url, backend: 'sqlite', folder })
    const body = {
      model: 'm',
      tools: [{ type: 'function', function: { name: 'read_file', parameters: {} } }],
      messages: [{ role: 'user', content: 'fix it' }],
    }
    const first = await start()
    const ask = (gateway: typeof first, n: number) =>
      gateway.request('POST', '/v1/chat/completions', body, { 'x-guard-session-id': `run-${n}` })
    await first.request('PUT', '/api/policies/default', { mode: 'enforce', rules: [{ ...rule, action: 'block' }] })
    for (let n = 0; n < 5; n++) assert.equal((await ask(first, n)).status, 200)
    await first.close()
    const second = await start()
    context.after(() => second.close())
    const { status, json } = await ask(second, 5)
    assert.deepEqual([status, (json as { error: { code: string } }).error.code], [429, 'LOOP_RESTART'])
  })
})
