import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { ended, gate, inHouse } from './kit.ts'

const demo = '/api/demo/run'

describe('POST /api/demo/run', () => {
  it('runs exact-loop in shadow mode without a body, and answers the ended run', () =>
    inHouse(async (house) => {
      const { status, body } = await house.ask('POST', demo)
      assert.equal(status, 200)
      assert.deepEqual([body.status, body.matched, body.mode, body.steps_done], ['completed', true, 'shadow', 4])
      assert.equal(body.project_id, 'playground-exact-loop')
    }))

  it('runs another scenario in another mode', () =>
    inHouse(async (house) => {
      const { status, body } = await house.ask('POST', demo, { scenario: 'token-limit', mode: 'enforce' })
      assert.deepEqual([status, body.matched, body.steps[3]?.reason], [200, true, 'LIMIT_TOKENS'])
    }))

  it('refuses what it does not know', () =>
    inHouse(async (house) => {
      const odd = await house.ask<{ error: { code: string } }>('POST', demo, { pace_ms: 1 })
      assert.deepEqual([odd.status, odd.body.error.code], [400, 'INVALID_REQUEST'])
      const unknown = await house.ask<{ error: { code: string } }>('POST', demo, { scenario: 'nothing' })
      assert.deepEqual([unknown.status, unknown.body.error.code], [404, 'SCENARIO_NOT_FOUND'])
    }))

  it('answers 202 when the run takes longer than 30 s, which then continues', async () => {
    const { plugin, held, open } = gate()
    await inHouse(
      async (house) => {
        mock.timers.enable({ apis: ['setTimeout'] })
        try {
          const asking = house.ask('POST', demo)
          while (held.count < 1) await new Promise((resolve) => setImmediate(resolve))
          mock.timers.tick(30_000)
          const { status, body } = await asking
          assert.deepEqual([status, body.status], [202, 'running'])
          open()
          assert.equal((await ended(house, body.id)).matched, true)
        } finally {
          mock.timers.reset()
        }
      },
      { more: [plugin] },
    )
  })
})
