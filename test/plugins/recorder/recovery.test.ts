import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Change, Plugin, Session } from 'guard-gateway/core'
import type { CallRecord } from '#lib/trace'
import { random as randomFrom } from '../../../bench/kit/random.ts'
import { present } from './kit.ts'
import { fresh, type Kind, Requests, totalsOf, type Written } from './requests.ts'

const KINDS: readonly Kind[] = ['allow', 'allow', 'flag', 'error', 'block']

describe('session totals after a crash', () => {
  it('equal the sums of the records', async () => {
    const random = randomFrom(7)
    const requests = new Requests()
    await requests.start()
    await busy(requests, random)
    const { written } = requests
    for (let deaths = 0; deaths < 40; deaths++) {
      const before = written.slice(0, 1 + Math.floor(random() * written.length))
      await requests.bench.close()
      await requests.start([leftBy(before)])
      await compare(requests, before)
    }
    await requests.bench.close()
  })

  it('are recomputed only as far back as needed', async () => {
    const requests = new Requests()
    await requests.start()
    const [early, late] = [fresh('ses_early'), fresh('ses_late')]
    const many = async (session: Session, count: number) => {
      for (let n = 0; n < count; n++) {
        requests.clock.advance(5)
        await requests.one(session)
      }
    }
    await many(early, 1_100)
    await requests.bench.gateway.storage.find('sessions')
    await many(late, 700)
    const isLost = (change: Change) => change.table === 'sessions' && 'key' in change && change.key === 'ses_late'
    const written = requests.written.map(({ batch, open }) => ({
      open,
      batch: batch.filter((change) => !isLost(change)),
    }))
    await requests.bench.close()
    let pages = 0
    await requests.start([leftBy(written, () => pages++)])
    assert.deepEqual(totalsOf(await requests.stored('ses_late')), totalsOf(late.row))
    assert.deepEqual(totalsOf(await requests.stored('ses_early')), totalsOf(early.row))
    // 500 records of 5 s each: 7 s of the late session, 5 s behind them, and no further
    assert.equal(pages, 3)
    await requests.bench.close()
  })

  it('do not change if complete, and unknown sessions are skipped', async () => {
    const requests = new Requests()
    await requests.start()
    const session = fresh()
    for (let n = 0; n < 3; n++) await requests.one(session)
    await requests.bench.gateway.storage.find('sessions')
    await requests.one(fresh('ses_b'))
    const { written } = requests
    await requests.bench.close()
    const left = written.map((one) => ({
      ...one,
      batch: one.batch.filter((change) => change.table !== 'sessions' || change.put?.id !== 'ses_b'),
    }))
    await requests.start([leftBy(left)])
    const { rows } = await requests.bench.gateway.storage.find('sessions')
    assert.deepEqual(rows.map(totalsOf), [totalsOf(session.row)])
    await requests.bench.close()
  })
})

/** Requests of some sessions, alone and beside one another, and now and then somebody who reads. */
const busy = async (requests: Requests, random: () => number): Promise<void> => {
  const pick = <T>(list: readonly T[]): T => present(list[Math.floor(random() * list.length)])
  const sessions = ['ses_a', 'ses_b', 'ses_c'].map(fresh)
  const underWay: (() => Promise<void>)[] = []
  for (let step = 0; step < 400; step++) {
    requests.clock.advance(Math.floor(random() * 4))
    const chance = random()
    if (chance < 0.5) await requests.one(pick(sessions), pick(KINDS))
    else if (chance < 0.65) underWay.push(requests.begin(pick(sessions), pick(KINDS)))
    else if (chance < 0.9) await underWay.shift()?.()
    else await requests.bench.gateway.storage.find('sessions')
  }
  for (const end of underWay) await end()
}

/** Puts into the storage what a process leaves that dies behind these writes. */
const leftBy = (written: readonly Written[], readPage = () => {}): Plugin => ({
  name: 'left',
  apply(gateway) {
    gateway.hooks.open.tapPromise('left', async () => {
      const { storage } = gateway
      for (const { batch } of written) await storage.write(batch)
      const { find } = storage
      storage.find = (table, query) => {
        if (table === 'calls' && query?.limit !== 1) readPage()
        return find(table, query)
      }
    })
  },
})

const compare = async ({ bench }: Requests, before: readonly Written[]): Promise<void> => {
  const { storage } = bench.gateway
  for (const row of (await storage.find('sessions')).rows) {
    const { rows } = await storage.find('calls', { where: { session_id: row.id }, limit: 1_000 })
    const [requested = 0, refused = 0, flagged = 0, ...sums] = totalsOf(row)
    const [counted = 0, blocks = 0, flags = 0, ...recorded] = sumsOf(rows)
    assert.deepEqual(sums, recorded)
    // a request that was under way when totals were written may count already
    const most = before.at(-1)?.open.get(row.id) ?? 0
    assert.ok(requested >= counted && refused >= blocks && flagged >= flags)
    assert.ok(requested + refused <= counted + blocks + most && flagged <= flags + most)
  }
}

const sumsOf = (calls: readonly CallRecord[]): readonly number[] => {
  const answered = calls.filter(({ decision }) => decision !== 'block').length
  const flagged = calls.filter(({ decision }) => decision === 'shadow_flag').length
  const errors = calls.filter(({ outcome }) => outcome === 'upstream_error').length
  const [input, output, total, cost] = [20, 10, 30, 7].map((each) => each * answered)
  return [answered, calls.length - answered, flagged, errors, input ?? 0, output ?? 0, total ?? 0, cost ?? 0]
}
