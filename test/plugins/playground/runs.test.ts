import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ModelScenario, scenario } from 'guard-gateway/plugins/playground'
import { ended, gate, inHouse } from './kit.ts'

const both = (outcome: ModelScenario['steps'][number]['expect']['shadow']) => ({ shadow: outcome, enforce: outcome })

const asked = {
  what: 'a question',
  do: 'request',
  say: [{ user: 'hello' }],
  reply: { text: 'hi', input_tokens: 1, output_tokens: 1 },
} as const

const story = (id: string, steps: ModelScenario['steps'], rest: Partial<ModelScenario> = {}) =>
  scenario({ id, title: id, summary: 'A test.', kind: 'model', steps, ...rest })

const runOf = (id: string) => `/api/v1/playground/runs/${id}`

describe('runs', () => {
  it('tell which expectations were not met, and by what', () =>
    inHouse(
      async (house) => {
        const run = await house.run({ scenario: 'wrong' })
        assert.equal(run.status, 'completed')
        assert.equal(run.matched, false)
        assert.deepEqual(
          run.steps.map(({ missed }) => missed),
          [['decision', 'status', 'outcome', 'total_tokens', 'sees'], ['reason'], []],
        )
        assert.deepEqual(
          run.steps.map(({ matched }) => matched),
          [false, false, true],
        )
      },
      {
        more: [
          story('wrong', [
            {
              ...asked,
              expect: both({ decision: 'block', status: 429, outcome: 'blocked', total_tokens: 1, sees: 'no' }),
            },
            { ...asked, say: [{ user: 'two' }], expect: both({ decision: 'allow', reason: 'LOOP_EXACT' }) },
            {
              ...asked,
              say: [{ user: 'three' }],
              expect: both({ decision: 'allow', status: 200, outcome: 'ok', total_tokens: 2, sees: 'hi' }),
            },
          ]),
        ],
      },
    ))

  it('leave nothing paused that they have paused', () => {
    const pauses = (['agent', 'session'] as const).map((target) => ({
      what: `somebody pauses the ${target}`,
      do: 'pause' as const,
      target,
      expect: both({ status: 200 }),
    }))
    return inHouse(
      async (house) => {
        const run = await house.run({ scenario: 'paused' })
        assert.equal(run.matched, true)
        const agent = await house.ask<{ agent: { paused: boolean } }>('GET', `/api/agents/${run.agent_id}`)
        const session = await house.ask<{ session: { paused: boolean } }>('GET', `/api/sessions/${run.session_id}`)
        assert.deepEqual([agent.body.agent.paused, session.body.session.paused], [false, false])
      },
      { more: [story('paused', [{ ...asked, expect: both({}) }, ...pauses])] },
    )
  })

  it('fail with what the gateway said when a step cannot be run', () =>
    inHouse(
      async (house) => {
        const unruled = await house.run({ scenario: 'unruled' })
        assert.equal(unruled.status, 'failed')
        assert.equal(unruled.matched, null)
        assert.equal(unruled.error?.code, 'INVALID_POLICY')
        assert.match(unruled.error?.message ?? '', /playground-unruled.*threshold must be an integer/)
        assert.deepEqual(unruled.steps, [])

        const early = await house.run({ scenario: 'early' })
        assert.deepEqual([early.status, early.error?.code], ['failed', 'SESSION_NOT_FOUND'])
        assert.match(early.error?.message ?? '', /"too soon" needs a session/)

        const strange = await house.run({ scenario: 'strange' })
        assert.deepEqual([strange.status, strange.error?.code, strange.steps_done], ['failed', 'UNKNOWN', 1])
        assert.deepEqual(house.faults, [])
      },
      {
        more: [
          story('unruled', [{ ...asked, expect: both({}) }], {
            rules: [
              { id: 'x', rule_type: 'exact_repeat', threshold: 0, window_size: 8, action: 'block', enabled: true },
            ],
          }),
          story('early', [{ what: 'too soon', do: 'pause', target: 'session', expect: both({}) }]),
          story('strange', [
            { ...asked, expect: both({}) },
            { ...asked, style: 'morse', expect: both({}) },
          ]),
        ],
      },
    ))

  it('leave nothing behind that stops another run', () =>
    inHouse(
      async (house) => {
        for (const scenario of ['leaves-paused', 'leaves-paused', 'exact-loop', 'paused-agent']) {
          const run = await house.run({ scenario })
          assert.deepEqual([run.status, run.matched], ['completed', true], scenario)
        }
      },
      {
        more: [
          story('leaves-paused', [
            { ...asked, expect: both({ decision: 'allow' }) },
            { what: 'pauses the agent', do: 'pause', target: 'agent', expect: both({ status: 200 }) },
            { what: 'pauses the session', do: 'pause', target: 'session', expect: both({ status: 200 }) },
          ]),
        ],
      },
    ))

  it('bring the rules of the project back that somebody has changed', () =>
    inHouse(async (house) => {
      const path = '/api/policies/playground-exact-loop'
      const version = async () => (await house.ask<{ version: number }>('GET', path)).body.version
      await house.run({ scenario: 'exact-loop' })
      const first = await version()
      await house.run({ scenario: 'exact-loop' })
      assert.equal(await version(), first)
      await house.ask('PUT', path, { mode: 'shadow', rules: [{ rule_type: 'max_requests' }] })
      const run = await house.run({ scenario: 'exact-loop', mode: 'enforce' })
      assert.equal(run.matched, true)
      assert.equal(await version(), first + 2)
    }))

  it('go four at once, a hundred wait, and the next is refused', async () => {
    const { plugin, held, open } = gate()
    await inHouse(
      async (house) => {
        const runs = []
        for (let count = 0; count < 104; count++) runs.push(await house.start({ scenario: 'paused-agent' }))
        const refused = await house.ask<{ error: { code: string } }>('POST', '/api/v1/playground/runs', {
          scenario: 'exact-loop',
        })
        assert.equal(refused.status, 429)
        assert.equal(refused.body.error.code, 'PLAYGROUND_BUSY')
        while (held.count < 4) await new Promise((resolve) => setImmediate(resolve))
        const states = await Promise.all(runs.map(async ({ id }) => (await house.ask('GET', runOf(id))).body.status))
        assert.deepEqual(states, [...Array(4).fill('running'), ...Array(100).fill('queued')])
        assert.equal(held.count, 4)
        open()
        // all of one scenario, beside one another, and none has stopped another one's agent or session
        for (const { id } of runs) {
          const run = await ended(house, id)
          assert.equal(run.matched, true)
        }
        assert.equal((await house.start({ scenario: 'exact-loop' })).status, 'queued')
      },
      { more: [plugin] },
    )
  })

  it('do not influence one another when they run beside one another', () =>
    inHouse(async (house) => {
      const { body } = await house.ask<{ scenarios: { id: string }[] }>('GET', '/api/v1/playground/scenarios')
      const orders = body.scenarios.flatMap(({ id }) => ['shadow', 'enforce'].map((mode) => ({ scenario: id, mode })))
      const started = await Promise.all(orders.map((order) => house.start(order)))
      const runs = await Promise.all(started.map(({ id }) => ended(house, id)))
      assert.deepEqual(
        runs.filter(({ matched }) => matched !== true),
        [],
      )
      const traces = runs.flatMap(({ trace_ids }) => trace_ids)
      assert.equal(new Set(traces).size, traces.length)
      assert.ok(runs.every(({ trace_ids }) => trace_ids.length > 0))
    }))

  it('are cancelled while they wait, and while they run', async () => {
    const { plugin, held, open } = gate()
    await inHouse(
      async (house) => {
        const busy = []
        for (let count = 0; count < 4; count++) busy.push(await house.start({ scenario: 'exact-loop' }))
        const waiting = await house.start({ scenario: 'exact-loop' })
        const [running] = busy
        assert.ok(running)
        while (held.count < 4) await new Promise((resolve) => setImmediate(resolve))
        for (const { id } of [waiting, running]) {
          const { status, body } = await house.ask('DELETE', runOf(id))
          assert.deepEqual([status, body.status, body.matched, body.steps_done], [200, 'cancelled', null, 0])
          assert.ok(body.ended_at)
        }
        open()
        for (const { id } of busy.slice(1)) assert.equal((await ended(house, id)).matched, true)
        const { body } = await house.ask('GET', runOf(running.id))
        // the request in progress came to its end, and nothing was sent or told after it
        assert.deepEqual([body.status, body.steps_done, body.steps], ['cancelled', 0, []])
        const again = await house.ask<{ error: { code: string; message: string } }>('DELETE', runOf(running.id))
        assert.deepEqual([again.status, again.body.error.code], [409, 'PLAYGROUND_RUN_ENDED'])
        assert.match(again.body.error.message, /it is cancelled/)
        assert.deepEqual(house.faults, [])
      },
      { more: [plugin] },
    )
  })

  it('wait between steps if they are told to, and not when they are cancelled', () =>
    inHouse(async (house) => {
      const run = await house.start({ scenario: 'exact-loop', pace_ms: 2000 })
      assert.equal(run.pace_ms, 2000)
      const first = async (): Promise<void> => {
        while ((await house.ask('GET', runOf(run.id))).body.steps_done < 1)
          await new Promise((resolve) => setImmediate(resolve))
      }
      await first()
      await house.ask('DELETE', runOf(run.id))
      const { body } = await house.ask('GET', runOf(run.id))
      assert.deepEqual([body.status, body.steps_done], ['cancelled', 1])
    }))

  it('end when another gateway has ended them', async () => {
    const { plugin, held, open } = gate()
    await inHouse(
      async (house) => {
        const { id } = await house.start({ scenario: 'exact-loop' })
        while (held.count < 1) await new Promise((resolve) => setImmediate(resolve))
        await house.gateway.storage.patch('playground_runs', id, { status: 'cancelled' })
        open()
        // the next one is after it in storage, not in the queue
        assert.equal((await house.run({ scenario: 'flag-only' })).matched, true)
        const { body } = await house.ask('GET', runOf(id))
        assert.deepEqual([body.status, body.steps], ['cancelled', []])
        assert.equal(held.count, 4)
        assert.deepEqual(house.faults, [])
      },
      { more: [plugin] },
    )
  })
})
