import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { maxCost } from 'guard-gateway/plugins/detectors/max-cost'
import { noveltyStall } from 'guard-gateway/plugins/detectors/novelty-stall'
import { findSubjects } from '../../../../bench/quality/subjects.ts'
import { type Item, step, system, user } from '../../../kit/conversation.ts'
import { call } from '../../../kit/evidence.ts'
import { always, busy, detecting, newSession, restarted, startApi, startBench } from '../kit.ts'

const begin: Item[] = [system('s'), user('fix it')]

describe('a rule with scope: thread', () => {
  const thread = { params: { scope: 'thread' } }
  const one = [...begin, ...step('a')]
  const two = [system('s'), user('title'), ...step('b')]

  it('compares the requests of one conversation', async () => {
    const bench = await startBench({ defaults: [{ rule_type: 'exact_repeat', window_size: 3, ...thread }] })
    const session = newSession()
    const ask = (items: readonly Item[]) => bench.send(call({ session, items }))
    const decisions: string[] = []
    for (const items of [one, two, one, two, one]) decisions.push((await ask(items)).decision)
    assert.deepEqual(decisions, ['allow', 'allow', 'allow', 'allow', 'shadow_flag'])
  })
  it('counts requests, tokens and cost of one conversation, also after a restart', async () => {
    const bench = await startBench(
      {
        defaults: [
          { rule_type: 'max_requests', threshold: 2, ...thread },
          { rule_type: 'max_tokens', threshold: 60, ...thread },
          { rule_type: 'max_cost', threshold: 500, ...thread },
        ],
      },
      [maxCost],
    )
    const session = newSession()
    const spent = { cost: { cost_micro: 300, cost_source: 'priced', price_version: '1' } } as const
    const asked = async (items: readonly Item[], known = session) => {
      const { matches } = await bench.send(call({ session: known, items }), spent)
      return matches.map(({ rule_id, count }) => `${rule_id} ${count}`)
    }
    assert.deepEqual(await asked(one), [])
    assert.deepEqual(await asked(two), [])
    assert.deepEqual(await asked([...one, ...step('c')]), [])
    const third = ['max_requests 2', 'max_tokens 60', 'max_cost 600']
    assert.deepEqual(await asked([...one, ...step('c'), ...step('d')]), third)
    assert.deepEqual(await asked([...two, ...step('e')], restarted(session)), [])
    assert.deepEqual((await asked([...two, ...step('e'), ...step('f')], restarted(session))).at(0), 'max_requests 2')
  })
})

describe('ignore_failed', () => {
  it('lets a client repeat what a busy provider did not answer', async () => {
    const bench = await startBench({
      default_mode: 'enforce',
      defaults: [{ rule_type: 'exact_repeat', params: { ignore_failed: true } }],
    })
    const session = newSession()
    const send = (over = {}) => bench.send(call({ session, items: begin }), over)
    for (let n = 0; n < 4; n++) assert.equal((await send(busy)).decision, 'allow')
    await send()
    await send()
    assert.equal((await send()).reason, 'LOOP_EXACT')
  })
})

describe('the places of a finding', () => {
  it('name for each turn the request that first held it', async () => {
    const bench = await startBench({ defaults: [{ rule_type: 'tool_repeat' }] })
    const session = newSession()
    const items: Item[] = [...begin]
    const ids: string[] = []
    let matches: unknown
    for (let n = 0; n < 3; n++) {
      items.push(...step('read'))
      const asked = call({ session, items: [...items] })
      ids.push(asked.id)
      matches = (await bench.send(asked)).matches[0]?.where
    }
    assert.deepEqual(matches, [
      { turn: -3, request: ids[0] },
      { turn: -2, request: ids[1] },
      { turn: -1, request: ids[2] },
    ])
  })
  it('leave out requests that nobody remembers', async () => {
    const bench = await startBench({ defaults: [{ rule_type: 'tool_repeat' }] })
    const old = Array.from({ length: 20 }, (_, n) => step('other', { n })).flat()
    const items = [...begin, ...step('read'), ...step('read'), ...old.slice(0, 6), ...step('read')]
    const asked = call({ session: newSession(), items })
    const decision = await bench.send(asked)
    assert.deepEqual(decision.matches[0]?.where, [
      { turn: -6, request: asked.id },
      { turn: -5, request: asked.id },
      { turn: -1, request: asked.id },
    ])
  })
})

describe('what detectors measure', () => {
  const seen = [...begin, ...step('read', { path: 'a' }, 'port = 80')]
  const look = (n: number) => step('grep', { n }, 'port = 80')

  it('is kept with the request, and found again after a restart', async () => {
    const bench = await startBench(
      { default_mode: 'enforce', defaults: [{ rule_type: 'novelty_stall', params: { repeated_calls: 0 } }] },
      [noveltyStall],
    )
    const session = newSession()
    const items = [...seen]
    for (let n = 0; n < 4; n++) {
      items.push(...look(n))
      const decision = await bench.send(call({ session, items: [...items] }))
      assert.equal(decision.decision, 'allow')
      assert.deepEqual(decision.row?.measures, { novelty_stall: `N${'S'.repeat(n + 1)}` })
    }
    const later = restarted(session)
    const refused = await bench.send(call({ session: later, items: [...items, ...look(4)] }))
    assert.equal(refused.reason, 'LOOP_NO_PROGRESS')
    const { rows } = await bench.gateway.storage.find('calls', { order: ['recorded', 'asc'] })
    assert.deepEqual(rows.at(0)?.measures, { novelty_stall: 'NS' })
  })
  it('is not measured where no rule asks for it', async () => {
    const bench = await startBench({ defaults: [{ rule_type: 'tool_repeat' }] }, [noveltyStall])
    assert.deepEqual((await bench.send(call({ session: newSession(), items: seen }))).row?.measures, {})
  })
  it('is dropped, and reported, if it is too large or fails', async () => {
    const large = { ...detecting('large', () => undefined), measure: () => 'x'.repeat(300) }
    const broken = {
      ...detecting('broken', () => undefined),
      measure: () => {
        throw new Error('no')
      },
    }
    const plugins = [large, broken].map((entry) => ({
      name: entry.name,
      apply: (gateway: { detectors: { add(one: typeof entry): void } }) => gateway.detectors.add(entry),
    }))
    const bench = await startBench(
      { defaults: [always('l', { rule_type: 'large' }), always('b', { rule_type: 'broken' })] },
      plugins,
    )
    const decision = await bench.send(call({ session: newSession(), items: seen }))
    assert.deepEqual([decision.decision, decision.row?.measures], ['allow', {}])
    assert.deepEqual(
      bench.faults.map(({ where }) => where),
      ['detector:large', 'detector:broken'],
    )
  })
})

describe('params in a policy document', () => {
  it('are stored, shown and refused by name', async () => {
    const { app, put, get } = await startApi()
    const params = { result_aware: true, exempt_tools: ['todo_*'], poll_tools: ['*status'], poll_threshold: 8 }
    assert.equal((await put({ rules: [{ rule_type: 'tool_repeat', params }] })).status, 200)
    assert.deepEqual((await get()).rules[0].params, params)
    const wrong = await put({ rules: [{ rule_type: 'error_retry', params: { reserve: true } }] })
    assert.deepEqual([wrong.status, wrong.body.error.code], [400, 'INVALID_POLICY'])
    assert.match(wrong.body.error.message, /reserve is not a param of error_retry; there is cooldown_seconds/)
    await app.close()
  })
})

describe('the table of params in the guide to detectors', () => {
  const guide = readFileSync(new URL('../../../../plugins/detectors/README.md', import.meta.url), 'utf8')
  const words = (cell = ''): string[] => [...cell.matchAll(/`([a-z_]+)`/g)].map(([, word]) => word ?? '')
  const rows = [...guide.matchAll(/^\| (`[a-z_`, ]+`) \| ([^|]+) \|.*\|.*\|$/gm)]

  const saidOf = (rule: string): string[] =>
    rows.filter(([, , rules]) => words(rules).includes(rule)).flatMap(([, params]) => words(params))

  it('names for each param the rules that have it, and no others', async () => {
    const { detectors } = await findSubjects({ detectors: [], presets: [] }, process.cwd())
    for (const { id, params = { properties: {} } } of detectors) {
      assert.ok('properties' in params)
      assert.deepEqual(saidOf(id).sort(), Object.keys(params.properties as object).sort(), id)
    }
  })
})
