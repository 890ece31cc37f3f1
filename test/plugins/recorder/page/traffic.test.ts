import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Reader } from 'guard-gateway/core'
import type { CallRecord } from 'guard-gateway/lib/trace'
import { Traffic } from '../../../../plugins/recorder/page/traffic.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** A midnight, UTC, and eight hours later. */
const MIDNIGHT = Date.UTC(2026, 5, 21)
const NOW = MIDNIGHT + 8 * HOUR_MS

let made = 0
const call = (at: number, more: Partial<CallRecord> = {}) =>
  ({
    id: `guardreq_${made++}`,
    received_at: at,
    ended_at: at + 1_000,
    upstream: 'near',
    attempts: 1,
    decision: 'allow',
    outcome: 'ok',
    total_tokens: 10,
    cost_micro: 5,
    ...more,
  }) as CallRecord

/** A table of calls in the order in which they were recorded, which counts what is read of it. */
const recorded = (calls: CallRecord[]) => {
  const read = { rows: 0 }
  const find = async (_table: string, { limit = 50, cursor = '0' } = {}) => {
    const from = Number(cursor)
    const rows = calls.toReversed().slice(from, from + limit)
    read.rows += rows.length
    const next = from + rows.length
    return { rows, next_cursor: next < calls.length ? String(next) : null, truncated: false }
  }
  return { read, reader: { has: () => true, get: async () => undefined, find } as unknown as Reader }
}

test('today begins at midnight, the last hour an hour ago', async () => {
  const { reader } = recorded([
    call(MIDNIGHT - MINUTE_MS),
    call(MIDNIGHT),
    call(NOW - HOUR_MS - MINUTE_MS, { decision: 'shadow_flag' }),
    call(NOW - MINUTE_MS, { decision: 'block', attempts: 0, outcome: 'blocked', cost_micro: null }),
    call(NOW - MINUTE_MS, { upstream: 'far', outcome: 'unreachable' }),
  ])
  const traffic = new Traffic()
  await traffic.update(reader, NOW)
  assert.deepEqual(traffic.names().toSorted(), ['far', 'near'])
  assert.deepEqual(traffic.today('near', NOW), {
    requests: 3,
    flagged: 1,
    blocked: 1,
    failed: 0,
    tokens: 30,
    cost_micro: 10,
  })
  assert.equal(traffic.lastHour('near', NOW).requests, 1)
  assert.equal(traffic.today('far', NOW).failed, 1)
  // what was refused here says nothing of the upstream
  assert.deepEqual(traffic.last('near'), { outcome: 'ok', at: NOW - HOUR_MS - MINUTE_MS + 1_000 })
  assert.equal(traffic.last('far')?.outcome, 'unreachable')
  assert.equal(traffic.last('nowhere'), undefined)
})

test('after midnight the last hour includes the previous day', async () => {
  const traffic = new Traffic()
  await traffic.update(recorded([call(MIDNIGHT - 10 * MINUTE_MS)]).reader, MIDNIGHT + MINUTE_MS)
  assert.equal(traffic.lastHour('near', MIDNIGHT + MINUTE_MS).requests, 1)
  assert.equal(traffic.today('near', MIDNIGHT + MINUTE_MS).requests, 0)
})

test('each call is counted once over updates and pages, also a long one', async () => {
  const calls = Array.from({ length: 1_200 }, (_, at) => call(NOW - HOUR_MS / 2 + at))
  const { reader, read } = recorded(calls)
  const traffic = new Traffic()
  await Promise.all([traffic.update(reader, NOW), traffic.update(reader, NOW)])
  assert.equal(traffic.today('near', NOW).requests, 1_200)
  const before = read.rows
  calls.push(call(NOW - 5 * HOUR_MS), ...Array.from({ length: 30 }, () => call(NOW)))
  await traffic.update(reader, NOW)
  assert.equal(traffic.today('near', NOW).requests, 1_231)
  assert.ok(read.rows - before < 600, `${read.rows - before} rows read for 31`)
})

test('old calls are not read, and expire', async () => {
  const old = Array.from({ length: 5_000 }, (_, at) => call(MIDNIGHT - 100 * HOUR_MS + at))
  const { reader, read } = recorded([...old, call(NOW)])
  const traffic = new Traffic()
  await traffic.update(reader, NOW)
  assert.ok(read.rows <= 1_500, `${read.rows} rows read`)
  await traffic.update(reader, NOW + 25 * HOUR_MS)
  assert.equal(traffic.today('near', NOW).requests, 0)
})

test('the last flagged and blocked calls are listed for a day, newest first', async () => {
  const calls = [
    call(NOW - 2 * HOUR_MS, { id: 'old', decision: 'block' }),
    ...Array.from({ length: 9 }, (_, at) => call(NOW - HOUR_MS, { id: `flag ${at}`, decision: 'shadow_flag' })),
  ]
  const { reader } = recorded(calls)
  const traffic = new Traffic()
  await traffic.update(reader, NOW)
  assert.deepEqual(
    traffic.flagged(),
    [8, 7, 6, 5, 4, 3, 2, 1].map((at) => `flag ${at}`),
  )
  calls.push(call(NOW, { id: 'newest', decision: 'block' }), call(NOW))
  await traffic.update(reader, NOW)
  assert.deepEqual(traffic.flagged().slice(0, 2), ['newest', 'flag 8'])
  await traffic.update(reader, NOW + 23.5 * HOUR_MS)
  assert.deepEqual(traffic.flagged(), ['newest'])
})

test('beyond the limit of an update the usage is partial, and no call is counted twice', async () => {
  const calls = [call(NOW)]
  const { reader } = recorded(calls)
  const traffic = new Traffic()
  await traffic.update(reader, NOW)
  assert.equal(traffic.partial, false)
  for (let more = 0; more < 25_000; more++) calls.push(call(NOW))
  await traffic.update(reader, NOW)
  assert.equal(traffic.partial, true)
  const { requests } = traffic.lastHour('near', NOW)
  assert.ok(requests >= 20_000 && requests < 20_500, `${requests}`)
  // what was read last is not there any more
  calls.splice(3)
  await traffic.update(reader, NOW)
  assert.equal(traffic.lastHour('near', NOW).requests, 3)
  assert.equal(traffic.partial, false)
})

test('the next update makes up for a failed one', async () => {
  const { reader } = recorded([call(NOW)])
  const failing = { ...reader, find: async () => Promise.reject(new Error('no disk')) } as unknown as Reader
  const traffic = new Traffic()
  await assert.rejects(traffic.update(failing, NOW), /no disk/)
  await traffic.update(reader, NOW)
  assert.equal(traffic.today('near', NOW).requests, 1)
})
