import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { argumentText, callKey } from '#lib/request-reader'
import { rowOf } from '#lib/trace'
import { aCall, aDecision, aMatch, aReading, aRow, aSession, blocked, NOON, settled } from '../../kit/settled.ts'
import { type Bench, present, startBench } from './kit.ts'

const SECRET = 'the quick brown canary'

describe('recorder: a settled call', () => {
  let bench: Bench
  beforeEach(async () => {
    bench = await startBench()
  })
  afterEach(() => bench.close())

  const callRow = async (id = 'guardreq_1') => present(await bench.gateway.storage.get('calls', id))
  const sessionRow = async (id = 'ses_a') => present(await bench.gateway.storage.get('sessions', id))
  const count = async () => (await bench.gateway.storage.find('calls')).rows.length

  it('is one write of call and session, held for the reply', async () => {
    await bench.settle(settled())
    assert.deepEqual(
      bench.writes.map(({ batch, options }) => [batch.map((change) => change.table), typeof options?.onRefused]),
      [[['calls', 'sessions', 'calls_by_hour'], 'function']],
    )
    assert.deepEqual(bench.faults, [])
  })

  it('stores caller, decision, outcome and usage', async () => {
    await bench.settle(
      settled({
        decision: aDecision({
          decision: 'shadow_flag',
          reason: 'LOOP_TOOL_CALL',
          rule_id: 'tool_repeat',
          matches: [aMatch()],
          faults: ['r2'],
        }),
      }),
    )
    const row = await callRow()
    assert.deepEqual(
      [row.session_id, row.project_id, row.agent_id, row.client],
      ['ses_a', 'shop', 'builder', 'agent/1.0'],
    )
    assert.deepEqual(
      [row.style, row.path, row.model_requested, row.model_replied, row.stream],
      ['messages', '/v1/messages', 'm-1', 'm-1-0301', false],
    )
    assert.deepEqual(
      [row.mode, row.decision, row.reason, row.rule_id, row.policy_version],
      ['shadow', 'shadow_flag', 'LOOP_TOOL_CALL', 'tool_repeat', 'v7'],
    )
    assert.deepEqual([row.matches, row.faults, row.notes], [[aMatch()], ['r2'], null])
    assert.deepEqual(
      [row.outcome, row.status, row.upstream, row.attempts, row.upstream_request_id],
      ['ok', 200, 'main', 1, 'req_up'],
    )
    assert.deepEqual(
      [row.received_at, row.forwarded_at, row.first_byte_at, row.ended_at],
      [NOON, NOON + 5, NOON + 300, NOON + 900],
    )
    assert.deepEqual([row.bytes_in, row.bytes_out], [aCall().body.length, 512])
    assert.deepEqual(
      [row.input_tokens, row.output_tokens, row.total_tokens, row.usage_source],
      [20, 10, 30, 'reported'],
    )
    assert.deepEqual(
      [row.finish_reason, row.response_id, row.reply_id, row.fingerprint],
      ['end_turn', null, 'msg_1', 'f1'],
    )
    assert.deepEqual([row.request_preview, row.response_preview], [null, null])
  })

  it('stores detection state without the ids of its own request', async () => {
    await bench.settle(settled())
    const [turn] = aRow().new_turns
    const new_turns = [{ ...turn, calls: turn?.calls.map((call) => ({ ...call, id: null })) }]
    assert.deepEqual(rowOf(await callRow()), { ...aRow({ response_id: null }), new_turns, cache_read_tokens: 0 })
  })

  it('redacts a secret in a tool name and in an id', async () => {
    const name = `sk-ant-api03-${'aB3'.repeat(31)}AA`
    const call = { key: 'k1', tool: name, id: name, result: null, error: false, passed: false, effect: null }
    const new_turns = [{ calls: [call], item: -1, user_after: false }]
    await bench.settle(settled({ decision: aDecision({ row: aRow({ new_turns }) }) }))
    const { turns } = await callRow()
    assert.match(turns ?? '', /redacted/i)
    assert.ok(!turns?.includes('aB3aB3'))
  })

  it('stores the reply id that a later request may use', async () => {
    await bench.settle(settled({ call: aCall({ style: 'responses' }) }))
    const row = await callRow()
    assert.deepEqual([row.response_id, row.reply_id, rowOf(row).response_id], ['msg_1', null, 'msg_1'])
  })

  it('stores call hashes only for clients that omit their history', async () => {
    const called = { id: 'call_1', tool: 'read', args: '{"path":"a"}' }
    const reading = aReading({ calls: [called, { ...called, id: null }] })
    await bench.settle(settled({ call: aCall({ style: 'responses' }), reading }))
    const key = callKey('read', argumentText({ path: 'a' }))
    assert.deepEqual((await callRow()).replied_calls, [{ id: 'call_1', tool: 'read', key, effect: 'look' }])
    await bench.settle(settled({ call: aCall({ id: 'guardreq_2' }), reading }))
    assert.equal((await callRow('guardreq_2')).replied_calls, null)
  })

  it('stores type and fingerprint of an error, not its text', async () => {
    const error = { type: 'overloaded_error', code: null, message: SECRET }
    await bench.settle(
      settled({
        outcome: 'upstream_error',
        status: 529,
        error,
        decision: aDecision({ row: aRow({ error_fingerprint: 'e1' }) }),
      }),
    )
    const row = await callRow()
    assert.deepEqual([row.error_type, row.error_fingerprint, row.status], ['overloaded_error', 'e1', 529])
  })

  it('stores no text of prompt, arguments, reply or error by default', async () => {
    const call = aCall({}, { messages: [{ role: 'user', content: SECRET }] })
    const reading = aReading({ calls: [{ id: 'toolu_2', tool: 'write_file', args: { text: SECRET } }] })
    const head = Buffer.from(JSON.stringify({ content: [{ type: 'text', text: SECRET }] }))
    await bench.settle(settled({ call, reading, head, error: { type: 'x', code: null, message: SECRET } }))
    const tables = ['calls', 'sessions'] as const
    const stored = await Promise.all(tables.map((table) => bench.gateway.storage.find(table)))
    assert.ok(stored.every(({ rows }) => rows.length === 1))
    assert.ok(!JSON.stringify(stored).includes('canary'))
    assert.equal(bench.gateway.service('previews').get(), undefined)
  })

  it('stores a request of a paused session as its own thread', async () => {
    const decision = aDecision({ decision: 'block', status: 409, reason: 'PAUSED_SESSION', row: null })
    await bench.settle(
      settled({ call: aCall({ retry_mark: true }), decision, outcome: 'blocked', status: 409, forwarded_at: null }),
    )
    const row = await callRow()
    assert.deepEqual(
      [row.thread, row.root, row.chain_tip, row.talk_tip, row.items, row.talk_items],
      ['guardreq_1', true, 'c2', 't1', 2, 1],
    )
    assert.deepEqual([row.keys, row.turns, row.retry, row.error_fingerprint], [[], null, true, null])
  })

  it('truncates names after redaction', async () => {
    const long = `m-${'x'.repeat(245)} sk-ant-api03-${'aB3'.repeat(31)}AA`
    await bench.settle(settled({ reading: aReading({ model: long, finish_reason: 'y'.repeat(5_000) }) }))
    const row = await callRow()
    assert.ok(!present(row.model_replied).includes('sk-ant'))
    assert.equal(present(row.model_replied).length <= 256, true)
    assert.equal(row.finish_reason, 'y'.repeat(256))
  })

  it('stores a call without session', async () => {
    await bench.settle(settled({ call: aCall({ session: null }) }))
    assert.equal((await callRow()).session_id, null)
  })

  it('reports a failed write as a fault', async () => {
    const failure = new Error('disk gone')
    bench.gateway.storage.write = () => Promise.reject(failure)
    await bench.settle(settled())
    assert.deepEqual(bench.faults, [{ error: failure, where: 'settle:recorder' }])
  })

  it('reports a record that the storage rejects twice', async () => {
    bench.gateway.storage.write = () => Promise.resolve(false)
    await bench.settle(settled())
    assert.deepEqual(
      bench.faults.map(({ error }) => (error as { code?: string }).code),
      ['STORAGE_BUSY'],
    )
  })

  it('is lost and reported if a hook fails, synchronously or later', async () => {
    const boom = new Error('mine')
    const failing = [
      () => {
        throw boom
      },
      async () => {
        await setImmediate()
        throw boom
      },
    ]
    for (const fail of failing) {
      const another = await startBench()
      another.gateway.hooks.record.tapPromise('test', fail)
      await another.settle(settled())
      assert.deepEqual(
        another.faults.map(({ error, where }) => [error, where]),
        [[boom, 'record:test']],
      )
      assert.deepEqual(another.writes, [])
      await another.close()
    }
  })

  describe('a repeat of a blocked request', () => {
    const again = (id: string, at: number) => blocked(aCall({ id, at }), 'guardreq_1')

    it('is counted on the first record, without its own row', async () => {
      await bench.settle(blocked(aCall()), again('guardreq_2', NOON + 1_000), again('guardreq_3', NOON + 2_000))
      const row = await callRow()
      assert.deepEqual([row.retries, row.last_at, row.last_request_id], [2, NOON + 2_000, 'guardreq_3'])
      assert.equal(await count(), 1)
    })

    it('is counted on the first record while that is being written', async () => {
      const free = Promise.withResolvers<void>()
      bench.gateway.hooks.record.tapPromise('test', () => free.promise)
      const both = [bench.settle(blocked(aCall())), bench.settle(again('guardreq_2', NOON + 1_000))]
      await setImmediate()
      free.resolve()
      await Promise.all(both)
      assert.deepEqual([(await callRow()).retries, await count()], [1, 1])
    })

    it('is counted exactly under concurrency', async () => {
      await bench.settle(blocked(aCall()))
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => bench.settle(again(`guardreq_r${index}`, NOON + index))),
      )
      assert.equal((await callRow()).retries, 20)
    })

    it('changes the totals of its session', async () => {
      const session = aSession({ requests: 0, blocked: 1 })
      await bench.settle(blocked(aCall({ session })))
      session.row.last_seen_at = NOON + 1_000
      await bench.settle(blocked(aCall({ id: 'guardreq_2', session }), 'guardreq_1'))
      assert.equal((await sessionRow()).last_seen_at, NOON + 1_000)
    })

    it('gets its own row if the first is not stored', async () => {
      await bench.settle(again('guardreq_2', NOON))
      assert.equal((await callRow('guardreq_2')).retries, 0)
      assert.equal(await count(), 1)
    })
  })
})
