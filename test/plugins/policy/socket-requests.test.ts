import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { noUsage, type Settled } from 'guard-gateway/core'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { metered } from '../../../core/pipeline/metering.ts'
import { step, user } from '../../kit/conversation.ts'
import { call, type Said } from '../../kit/evidence.ts'
import { aCall, aReading } from '../../kit/settled.ts'
import { busy, newSession, restarted, startBench } from './kit.ts'

const socket = (said: Said = {}, over: Said['over'] = {}) =>
  call({ ...said, over: { style: 'responses', transport: 'websocket', ...over } })

const warmUp = (said: Said = {}) => socket(said, { uncounted: 'warmup' })

const answered = (response_id: string): Partial<Settled> => ({ reading: aReading({ response_id }) })

/** How a provider says that it did not run a request. */
const notRun = (code: string): Partial<Settled> => ({
  ...busy,
  status: 400,
  error: { type: 'invalid_request_error', code, message: 'Send it again.' },
})

const strict = () =>
  startBench(
    {
      defaults: [
        { rule_type: 'exact_repeat', threshold: 3 },
        { rule_type: 'error_retry', threshold: 3 },
        { rule_type: 'max_requests', threshold: 4 },
      ],
      default_mode: 'enforce',
    },
    [responses],
  )

describe('a warm-up', () => {
  it('is allowed as often as it comes, and counts as no request', async () => {
    const bench = await strict()
    const session = newSession()
    for (let time = 0; time < 6; time++) {
      const decision = await bench.send(warmUp({ session, items: [user('a')] }), { usage: noUsage })
      assert.deepEqual([decision.decision, decision.row?.uncounted, decision.row?.reserved], ['allow', 'warmup', 0])
    }
    const { requests, total_tokens, errors } = session.row
    assert.deepEqual([requests, total_tokens, errors], [0, 0, 0])
    assert.equal((await bench.send(socket({ session, items: [user('a')] }))).decision, 'allow')
    assert.equal(session.row.requests, 1)
  })
  it('is blocked while its session is paused', async () => {
    const bench = await strict()
    const session = newSession({ paused: true })
    const decision = await bench.send(warmUp({ session, items: [user('a')] }))
    assert.deepEqual([decision.decision, decision.reason], ['block', 'PAUSED_SESSION'])
  })
  it('is what the first request continues, also after a restart', async () => {
    const bench = await strict()
    const session = newSession()
    const warm = await bench.send(warmUp({ session, items: [user('a')] }), answered('resp_0'))
    const continuing = { items: step('read'), envelope: { previous_response_id: 'resp_0' } }
    const first = await bench.send(socket({ session, ...continuing }), answered('resp_1'))
    assert.deepEqual([first.row?.parent, first.row?.thread], [warm.row?.id, warm.row?.thread])
    const again = restarted(session)
    const later = await bench.send(socket({ session: again, ...continuing, extra: 'other' }))
    assert.deepEqual([later.row?.parent, again.row.requests], [warm.row?.id, 2])
  })
  it('keeps its usage beside all totals', () => {
    const usage = { ...noUsage, input_tokens: 9_000, total_tokens: 9_000 }
    const warm = aCall({ uncounted: 'warmup' })
    assert.deepEqual(metered(aReading({ usage }), 'ok', warm), { usage: noUsage, usage_source: 'none' })
    assert.deepEqual(warm.notes, { warmup_usage: usage })
    const plain = aCall()
    assert.deepEqual([metered(aReading({ usage }), 'ok', plain).usage, plain.notes], [usage, {}])
  })
})

describe('a request over a socket that its provider did not run', () => {
  for (const code of ['websocket_connection_limit_reached', 'previous_response_not_found']) {
    it(`is no repeat and no error of a streak: ${code}`, async () => {
      const bench = await startBench({
        defaults: [
          { rule_type: 'exact_repeat', threshold: 2 },
          { rule_type: 'error_retry', threshold: 2 },
        ],
        default_mode: 'enforce',
      })
      const session = newSession()
      const sent = []
      for (let time = 0; time < 5; time++)
        sent.push(await bench.send(socket({ session, items: [user('a')] }), notRun(code)))
      assert.deepEqual(new Set(sent.map(({ decision }) => decision)), new Set(['allow']))
      assert.deepEqual(sent.at(-1)?.row?.uncounted, 'not_run')
      const again = restarted(session)
      assert.equal((await bench.send(socket({ session: again, items: [user('a')] }))).decision, 'allow')
      assert.equal((await bench.send(socket({ session: again, items: [user('a')] }))).reason, 'LOOP_EXACT')
    })
  }
  it('is an error like any other over HTTP, and for another reason', async () => {
    for (const [transport, code] of [
      [undefined, 'previous_response_not_found'],
      ['websocket', 'server_error'],
    ] as const) {
      const bench = await startBench({
        defaults: [{ rule_type: 'error_retry', threshold: 3 }],
        default_mode: 'enforce',
      })
      const session = newSession()
      const send = () =>
        bench.send(
          call({ session, items: [user('a')], over: transport === undefined ? {} : { transport } }),
          notRun(code),
        )
      const reasons = []
      for (let time = 0; time < 4; time++) reasons.push((await send()).reason)
      assert.equal(reasons.at(-1), 'LOOP_ERROR_RETRY', code)
    }
  })
})

describe('threads of agents that share a session', () => {
  const hints = (thread_id: string) => ({
    envelope: { hints: { 'client_metadata.session_id': 'ses_1', 'client_metadata.thread_id': thread_id } },
  })
  it('are told apart by the thread that a create names', async () => {
    const bench = await startBench()
    const session = newSession()
    const main = await bench.send(socket({ session, items: [user('a')], ...hints('ses_1') }))
    const other = await bench.send(socket({ session, items: [user('a')], ...hints('thr_2') }))
    const plain = await bench.send(call({ session, items: [user('a'), ...step('read')] }))
    assert.match(other.row?.thread ?? '', /~[0-9a-f]{16}$/)
    assert.notEqual(main.row?.thread, other.row?.thread)
    assert.equal(plain.row?.thread, main.row?.thread)
  })
})

describe('a client that goes on over HTTP with its whole history', () => {
  it('stays in its thread', async () => {
    const bench = await startBench()
    const session = newSession()
    const opening = [user('fix the build')]
    const first = await bench.send(socket({ session, items: opening }), answered('resp_1'))
    const steps = [step('read'), step('edit')]
    for (const [at, items] of steps.entries())
      await bench.send(
        socket({ session, items, envelope: { previous_response_id: `resp_${at + 1}` } }),
        answered(`resp_${at + 2}`),
      )
    const whole = await bench.send(call({ session, items: [...opening, ...steps.flat()] }))
    assert.deepEqual([whole.row?.thread, whole.row?.root], [first.row?.thread, false])
  })
})
