import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Plugin, Tables } from 'guard-gateway/core'
import { cluster } from 'guard-gateway/plugins/cluster'
import { writer } from '#lib/ids'
import { sharedMemory } from '../../kit/shared-memory.ts'
import { disk } from '../sessions/disk.ts'
import { inHouse, openHouse } from './kit.ts'

const runOf = (id: string) => `/api/v1/playground/runs/${id}`

/** A run as a process leaves it that ends in the middle. */
const left = (
  id: string,
  status: 'queued' | 'running',
  created_at: number,
  process = 'ended',
): Tables['playground_runs'] => ({
  id,
  scenario_id: 'flag-only',
  mode: 'shadow',
  style: 'messages',
  pace_ms: 0,
  status,
  matched: null,
  step_count: 3,
  steps_done: 0,
  steps: [],
  error: null,
  project_id: 'playground-flag-only',
  agent_id: 'playground',
  session_id: null,
  process,
  created_at,
  started_at: null,
  ended_at: null,
})

describe('runs', () => {
  it('that the gateway is closed in are on record as interrupted', async () => {
    const kept = disk()
    const house = await openHouse({ storage: kept.plugin })
    const ids: string[] = []
    for (let count = 0; count < 5; count++) ids.push((await house.start({ scenario: 'exact-loop', pace_ms: 2000 })).id)
    // four wait between their steps, the fifth waits for its turn
    for (const id of ids.slice(0, 4))
      while ((await house.ask('GET', runOf(id))).body.steps_done < 1)
        await new Promise((resolve) => setImmediate(resolve))
    await house.close()
    await inHouse(
      async (next) => {
        for (const id of ids) {
          const { body } = await next.ask('GET', runOf(id))
          assert.deepEqual([body.status, body.error?.code, body.matched], ['failed', 'INTERRUPTED', null])
        }
      },
      { storage: kept.plugin },
    )
  })

  it('that a process left behind are on record as interrupted', async () => {
    const kept = disk()
    await inHouse(
      async ({ gateway, run }) => {
        await run({ scenario: 'flag-only' })
        for (let count = 0; count < 150; count++) {
          const status = count % 2 === 0 ? 'queued' : 'running'
          await gateway.storage.put('playground_runs', left(`play_left_${count}`, status, gateway.clock.now()))
        }
      },
      { storage: kept.plugin },
    )
    await inHouse(
      async (house) => {
        for (const id of ['play_left_0', 'play_left_1', 'play_left_149']) {
          const { body } = await house.ask('GET', runOf(id))
          assert.deepEqual([body.status, body.error?.code], ['failed', 'INTERRUPTED'])
          assert.ok(body.ended_at)
        }
        const found = await house.ask<{ runs: unknown[] }>('GET', '/api/v1/playground/runs?status=completed')
        assert.equal(found.body.runs.length, 1)
      },
      { storage: kept.plugin },
    )
  })

  it('that another gateway of a shared storage is at are left to it, until it has died', async () => {
    const leave: Plugin = {
      name: 'leave',
      apply: (gateway) =>
        gateway.hooks.open.tapPromise({ name: 'leave', stage: -500 }, async () => {
          const now = gateway.clock.now()
          await gateway.storage.put('playground_runs', left('play_alive', 'running', now, writer))
          await gateway.storage.put('playground_runs', left('play_dead', 'queued', now, 'elsewhere:1:1'))
        }),
    }
    await inHouse(
      async (house) => {
        assert.equal((await house.ask('GET', runOf('play_dead'))).body.error?.code, 'INTERRUPTED')
        assert.equal((await house.ask('GET', runOf('play_alive'))).body.status, 'running')
        // whoever is at it finds the end on record
        assert.equal((await house.ask('DELETE', runOf('play_alive'))).body.status, 'cancelled')
      },
      {
        storage: sharedMemory(),
        more: [cluster(), leave],
      },
    )
  })
})
