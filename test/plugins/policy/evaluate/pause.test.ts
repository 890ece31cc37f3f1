import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Match } from 'guard-gateway/core'
import { isResumedBudget } from '../../../../plugins/policy/evaluate/pause.ts'
import { user } from '../../../kit/conversation.ts'
import { dialectOf, dialects, looping, type Step } from '../../../kit/dialogue.ts'
import { call } from '../../../kit/evidence.ts'
import { decisionOf, errorOf, type Service, startService } from '../../../kit/service.ts'
import { aRow } from '../../../kit/settled.ts'
import { always, newSession, startBench } from '../kit.ts'

const session = { 'x-guard-session-id': 'one' }
const pausePolicy = { mode: 'enforce', rules: [{ rule_type: 'tool_repeat', action: 'pause' }] }
const chat = dialectOf('chat_completions')
const resume = (service: Service) => service.request('POST', '/api/sessions/one/resume')
const names = async (service: Service) =>
  (await service.events('one')).map(({ name }) => name).filter((name) => name.startsWith('session.'))

describe('action pause', () => {
  for (const dialect of dialects)
    it(`refuses with 409 and the finding, and the session waits for a person, also after a restart: ${dialect.style}`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'guard-pause-'))
      try {
        let id = ''
        {
          await using service = await startService({ folder, backend: 'sqlite' })
          await service.policy(pausePolicy)
          await service.send(dialect, looping(2), session)
          const refused = await service.send(dialect, looping(3), session)
          assert.deepEqual(decisionOf(refused), { status: 409, decision: 'block', reason: 'LOOP_TOOL_CALL' })
          assert.equal(refused.headers.get('x-should-retry'), 'false')
          const error = errorOf(refused)
          id = String(error.session_id)
          assert.deepEqual([error.type, error.code, error.rule_id], ['guard_block', 'LOOP_TOOL_CALL', 'tool_repeat'])
          assert.equal(
            error.message,
            `Guard paused this session: read_file was called 3 times with the same arguments in the last 8 turns. A person lets it go on with POST /api/sessions/${id}/resume or on the gateway's page.`,
          )
          const { paused, pause_reason } = await service.session('one')
          assert.equal(paused, true)
          assert.match(pause_reason ?? '', /^tool_repeat: read_file was called 3 times/)
          const events = await service.events('one')
          const told = events.find(({ name }) => name === 'session.paused')?.attributes
          assert.deepEqual(told, { reason: pause_reason, rule_id: 'tool_repeat', code: 'LOOP_TOOL_CALL' })
          const decided = events.filter(({ name }) => name === 'policy.decision').at(-1)?.attributes
          assert.deepEqual(
            [decided?.decision, decided?.action, decided?.reason_code, decided?.forwarded],
            ['block', 'pause', 'LOOP_TOOL_CALL', false],
          )
        }
        await using service = await startService({ folder, backend: 'sqlite' })
        // whatever it sends, in whatever mode
        for (const steps of [looping(3), [{ user: 'Something else.' }]]) {
          const held = await service.send(dialect, steps, session)
          assert.deepEqual(decisionOf(held), { status: 409, decision: 'block', reason: 'PAUSED_SESSION' })
        }
        assert.equal(service.provider.requests.length, 0)
        assert.equal((await resume(service)).status, 200)
        // loops start over: what was said before does not count
        for (const times of [3, 4, 5])
          assert.equal(decisionOf(await service.send(dialect, looping(times), session)).decision, 'allow')
        const again = await service.send(dialect, looping(6), session)
        assert.deepEqual(decisionOf(again), { status: 409, decision: 'block', reason: 'LOOP_TOOL_CALL' })
        assert.deepEqual(await names(service), ['session.paused', 'session.resumed', 'session.paused'])
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    })

  it('only flags in shadow', async () => {
    await using service = await startService()
    await service.policy({ ...pausePolicy, mode: 'shadow' })
    for (const times of [2, 3, 4]) assert.equal((await service.send(chat, looping(times), session)).status, 200)
    assert.deepEqual((await service.session('one')).paused, false)
    assert.deepEqual(await names(service), [])
  })

  it('goes before steering, and after a block that is before it', async () => {
    const of = (...actions: string[]) => ({
      mode: 'enforce',
      rules: actions.map((action) => ({ id: action, rule_type: 'tool_repeat', action })),
    })
    for (const [actions, status] of [
      [['steer', 'pause'], 409],
      [['pause', 'block'], 409],
      [['block', 'pause'], 429],
      [['flag', 'pause'], 409],
    ] as const) {
      await using service = await startService()
      await service.policy(of(...actions))
      await service.send(chat, looping(2), session)
      assert.equal((await service.send(chat, looping(3), session)).status, status, actions.join())
      assert.equal((await service.session('one')).paused, status === 409)
    }
  })

  it('gives clients that repeat a 409 without end the status that they take for final', async () => {
    await using service = await startService({
      config: 'server: { block_status_override: { "stubborn/*": 403 } }',
    })
    await service.policy(pausePolicy)
    const stubborn = { ...session, 'user-agent': 'stubborn/1.0' }
    await service.send(chat, looping(2), stubborn)
    const first = await service.send(chat, looping(3), stubborn)
    assert.deepEqual([first.status, errorOf(first).code], [403, 'LOOP_TOOL_CALL'])
    for (let n = 0; n < 3; n++) {
      const held = await service.send(chat, looping(3), stubborn)
      assert.deepEqual([held.status, errorOf(held).code], [403, 'PAUSED_SESSION'])
    }
    // the repeats are one entry of the history
    const decided = (await service.events('one')).filter(({ name }) => name === 'policy.decision')
    assert.deepEqual(
      decided.map(({ attributes }) => [attributes.reason_code, attributes.retries]),
      [
        [null, 0],
        ['LOOP_TOOL_CALL', 0],
        ['PAUSED_SESSION', 2],
      ],
    )
  })

  it('of a budget speaks again when as much more is used as it has room for', async () => {
    await using service = await startService()
    await service.policy({ mode: 'enforce', rules: [{ rule_type: 'max_requests', threshold: 2, action: 'pause' }] })
    let n = 0
    const ask = async () => (await service.send(chat, [{ user: `Question ${n++}.` }], session)).status
    for (let round = 0; round < 3; round++) {
      assert.deepEqual([await ask(), await ask(), await ask(), await ask()], [200, 200, 409, 409], `round ${round}`)
      await resume(service)
    }
  })

  it('of a budget of the calendar speaks again in the next period, however little that has used', () => {
    const at = (count: number, resets_at: number): Match => ({
      rule_id: 'daily',
      rule_type: 'max_requests',
      code: 'LIMIT_REQUESTS',
      action: 'pause',
      threshold: 100,
      window_size: 0,
      message: 'used up',
      evidence: 'budget',
      count,
      resets_at,
    })
    const row = { ...aRow(), decision: 'block' as const, rule_id: 'daily', at: 10, matches: [at(100, 1_000)] }
    const letOn = (match: Match, resumed_at: number | null) => isResumedBudget(match, { rows: [row] }, resumed_at)
    assert.equal(letOn(at(150, 1_000), 20), true)
    assert.equal(letOn(at(200, 1_000), 20), false, 'as much more is used')
    assert.equal(letOn(at(100, 2_000), 20), false, 'another period')
    assert.equal(letOn(at(150, 1_000), 5), false, 'nobody has let it go on since')
    assert.equal(letOn(at(150, 1_000), null), false)
  })

  it('happens once where several requests match at the same time', async () => {
    await using service = await startService()
    await service.policy(pausePolicy)
    await service.send(chat, looping(2), session)
    const variants = [1, 2, 3, 4].map((temperature) => service.send(chat, looping(3), session, { temperature }))
    const statuses = (await Promise.all(variants)).map(({ status }) => status)
    assert.deepEqual(statuses, [409, 409, 409, 409])
    assert.deepEqual(await names(service), ['session.paused'])
  })

  it('refuses the request also where the pause cannot be written, and tries again at the next match', async () => {
    const { gateway, send, faults } = await startBench({
      defaults: [always('r', { action: 'pause' })],
      default_mode: 'enforce',
    })
    let tried = 0
    const fail = () => Promise.reject(new Error('not asked here'))
    const pause = async () => {
      tried++
      throw new Error('no room')
    }
    gateway.service('sessions').provide({ find: fail, held: fail, callerOf: fail, pauseOf: fail, pause })
    const one = newSession()
    for (const text of ['a', 'b']) {
      const decision = await send(call({ session: one, items: [user(text)] }))
      assert.deepEqual([decision.decision, decision.status, decision.reason], ['block', 409, 'LOOP_EXACT'])
    }
    assert.equal(tried, 2)
    assert.deepEqual(
      faults.map(({ where }) => where),
      ['policy:pause', 'policy:pause'],
    )
  })
})

describe('a session that a person ends', () => {
  const end = (service: Service, id = 'one') => service.request('POST', `/api/sessions/${id}/end`)

  it('is refused for good, waits for nobody, and can be taken back', async () => {
    await using service = await startService()
    await service.policy(pausePolicy)
    await service.send(chat, looping(2), session)
    await service.send(chat, looping(3), session)
    const { json } = await end(service)
    const ended = (json as { readonly session: Readonly<Record<string, unknown>> }).session
    assert.equal(ended.paused, true)
    assert.ok(typeof ended.ended_at === 'string')
    const refused = await service.send(chat, [{ user: 'Go on.' }], session)
    assert.deepEqual([refused.status, errorOf(refused).code], [409, 'ENDED_SESSION'])
    assert.match(String(errorOf(refused).message), /a person has ended its session\. Begin a new one/)
    const sameThread = await service.request(
      'POST',
      '/v1/messages/count_tokens',
      { model: 'm-1', messages: [] },
      session,
    )
    assert.deepEqual([sameThread.status, errorOf(sameThread).code], [409, 'ENDED_SESSION'])
    assert.equal((await resume(service)).status, 200)
    assert.equal((await service.send(chat, [{ user: 'Go on.' }], session)).status, 200)
    assert.deepEqual(await names(service), ['session.paused', 'session.ended', 'session.resumed'])
  })
  it('can be ended whether it is paused or not, and twice', async () => {
    await using service = await startService()
    await service.send(chat, [{ user: 'Hello.' }], session)
    for (let n = 0; n < 2; n++) assert.equal((await end(service)).status, 200)
    assert.equal((await end(service, 'nobody')).status, 404)
  })
  it('keeps its conversation, and not the next one that starts with the same words', async () => {
    await using service = await startService()
    const steps: Step[] = [{ user: 'Update the changelog.' }]
    const first = await service.send(chat, steps)
    const id = first.headers.get('x-guard-session-id') ?? ''
    await end(service, id)
    const isRepeatedMatch = await service.send(chat, [...steps, ...looping(1).slice(1)])
    assert.deepEqual([isRepeatedMatch.status, errorOf(isRepeatedMatch).session_id], [409, id])
    const anew = await service.send(chat, steps)
    assert.equal(anew.status, 200)
    assert.notEqual(anew.headers.get('x-guard-session-id'), id)
  })
})
