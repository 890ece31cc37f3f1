import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Pushing, rested, startPush, until } from './kit.ts'

const MINUTE = 60_000
/** So many spans, in runs whose roots come a minute later. */
const ingest = (pushing: Pushing, count: number, name = 'a') =>
  pushing.ingest({ spans: Array.from({ length: count }, (_, n) => ({ name: `${name}${n}` })) })
/** Lets time pass in which a try fails, and the wait for the next begins. */
const fails = async (pushing: Pushing, ms: number): Promise<void> => {
  const { last_error } = pushing.health
  await pushing.tick(ms)
  await until(() => pushing.health.last_error !== last_error)
}

describe('a receiver that is temporarily unavailable', () => {
  for (const status of [429, 502, 503, 504])
    it(`gets a retry after ${status}`, async (test) => {
      const pushing = await startPush(test, { scripts: [{ status, body: '{"message":"busy."}' }] })
      await ingest(pushing, 3)
      await fails(pushing, 2_000)
      assert.deepEqual([pushing.counts, pushing.health.sending], [[0, 0, 0], 3])
      assert.match(pushing.health.last_error?.message ?? '', new RegExp(`/v1/traces: It answered ${status}: busy\\.$`))
      await pushing.pass(1_000)
      assert.deepEqual(
        [pushing.counts, pushing.sizes],
        [
          [3, 0, 0],
          [3, 3],
        ],
      )
      assert.deepEqual(pushing.receiver.requests[0]?.body, pushing.receiver.requests[1]?.body)
    })

  it('gets a retry after a connection error', async (test) => {
    const pushing = await startPush(test, { scripts: [{ reset: true }, { raw: 'HTTP/1.1 200 OK\r\ncontent-le' }] })
    await ingest(pushing, 1)
    await fails(pushing, 2_000)
    await fails(pushing, 1_000)
    await pushing.pass(2_000)
    assert.deepEqual(pushing.counts, [1, 0, 0])
  })

  it('gets retries after 1, 2, 4 and at most 60 seconds, and after success from the start', async (test) => {
    const busy = Array.from({ length: 9 }, () => ({ status: 503 }))
    const pushing = await startPush(test, { scripts: [...busy, {}, { status: 503 }] })
    await ingest(pushing, 1)
    await fails(pushing, 2_000)
    for (const [tries, seconds] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
      await pushing.tick(seconds * 1_000 - 1)
      assert.equal(pushing.receiver.requests.length, tries + 1, `too early after try ${tries + 1}`)
      await fails(pushing, 1)
    }
    await pushing.pass(60_000)
    assert.deepEqual(pushing.counts, [1, 0, 0])
    // the root of the run has become due meanwhile
    await fails(pushing, 2_000)
    await pushing.pass(1_000)
    assert.deepEqual(pushing.counts, [2, 0, 0])
  })

  it('controls the delay with Retry-After in seconds or as a date, at least one second', async (test) => {
    const start = Date.UTC(2026, 0, 1)
    const after = (value: string) => ({ status: 429, headers: { 'retry-after': value } })
    const pushing = await startPush(test, {
      scripts: [after('30'), after(new Date(start + 50_000).toUTCString()), after('0'), after('soon')],
    })
    await ingest(pushing, 1)
    await fails(pushing, 2_000)
    // at 2 s, for 30 s; then until 50 s; then at least 1 s; then by itself, as the fourth in a row
    for (const [tries, wait] of [30_000, 18_000, 1_000].entries()) {
      await pushing.tick(wait - 1)
      assert.equal(pushing.receiver.requests.length, tries + 1, `too early after try ${tries + 1}`)
      await fails(pushing, 1)
    }
    await pushing.tick(7_999)
    assert.equal(pushing.health.sent, 0)
    await pushing.pass(1)
    assert.equal(pushing.health.sent, 1)
  })

  it('loses a batch after five minutes, and gets the next', async (test) => {
    const pushing = await startPush(test, {
      scripts: [{ status: 503 }, { status: 503, headers: { 'retry-after': '86400' } }],
    })
    await ingest(pushing, 2, 'old')
    await fails(pushing, 2_000)
    await fails(pushing, 1_000)
    await ingest(pushing, 1, 'new')
    await pushing.tick(5 * MINUTE)
    await until(() => pushing.health.dropped === 2)
    await pushing.gathered()
    assert.deepEqual(
      pushing.spans.map(({ name }) => name).filter((name) => name.startsWith('new')),
      ['new0'],
    )
    assert.equal(pushing.health.dropped, 2)
  })

  it('reports one fault for consecutive failures', async (test) => {
    const pushing = await startPush(test, { scripts: [{ status: 503 }, { status: 503 }, {}, { status: 400 }] })
    await ingest(pushing, 1)
    await fails(pushing, 2_000)
    await fails(pushing, 1_000)
    assert.equal(pushing.bench.faults.length, 1)
    await pushing.pass(2_000)
    await ingest(pushing, 1)
    await pushing.pass(2_000)
    assert.deepEqual(
      pushing.bench.faults.map((fault) => (fault as Error).message.replace(/http:\S+/, 'URL')),
      ['Spans were not accepted. URL It answered 503.', 'Spans were not accepted. URL It answered 400.'],
    )
  })
})

describe('a receiver that rejects', () => {
  it('gets no retry', async (test) => {
    const pushing = await startPush(test, { scripts: [{ status: 400, body: '{"code":3,"message":"no such tenant"}' }] })
    await ingest(pushing, 2)
    await pushing.pass(2_000)
    await pushing.tick(30_000)
    assert.deepEqual([pushing.counts, pushing.receiver.requests.length], [[0, 0, 2], 1])
    assert.match(pushing.health.last_error?.message ?? '', /It answered 400: no such tenant\.$/)
  })

  for (const [rejectedSpans, counts] of [
    ['1', [2, 0, 1]],
    [2, [1, 0, 2]],
    ['99', [0, 0, 3]],
    [-5, [3, 0, 0]],
    ['many', [3, 0, 0]],
    [null, [3, 0, 0]],
  ] as const)
    it(`some spans is reported: ${rejectedSpans}`, async (test) => {
      const body = JSON.stringify({ partialSuccess: { rejectedSpans, errorMessage: 'too old' } })
      const pushing = await startPush(test, { scripts: [{ body }] })
      await ingest(pushing, 3)
      await pushing.pass(2_000)
      assert.deepEqual(pushing.counts, counts)
      assert.match(pushing.health.last_error?.message ?? '', /It took \d of 3 spans: too old\.$/)
    })
})

describe('the queue', () => {
  it('sends batches of 512, at once if full', async (test) => {
    const pushing = await startPush(test)
    await ingest(pushing, 1_100)
    await until(() => pushing.health.sent === 1_024)
    assert.deepEqual(pushing.sizes, [512, 512])
    await pushing.pass(2_000)
    assert.deepEqual(
      [pushing.sizes, pushing.counts],
      [
        [512, 512, 76],
        [1_100, 0, 0],
      ],
    )
  })

  it('limits bodies to some megabytes', async (test) => {
    const pushing = await startPush(test)
    const attributes = Object.fromEntries(Array.from({ length: 7 }, (_, n) => [`a${n}`, 'lorem ipsum '.repeat(680)]))
    const spans = Array.from({ length: 50 }, (_, n) => ({ name: `s${n}`, attributes }))
    await pushing.ingest({ spans })
    await pushing.pass(2_000)
    assert.equal(pushing.health.sent, 50)
    assert.ok(pushing.receiver.requests.length > 1)
  })

  it('drops the oldest spans beyond its limit', async (test) => {
    const pushing = await startPush(test, { receiver: { max_queue: 10 }, scripts: [{ silent: true }] })
    await ingest(pushing, 4, 'first')
    await pushing.tick(2_000)
    await until(() => pushing.receiver.requests.length === 1)
    await ingest(pushing, 6, 'second')
    await ingest(pushing, 7, 'third')
    assert.deepEqual([pushing.health.queued, pushing.health.sending, pushing.health.dropped], [10, 4, 3])
    await pushing.tick(10_000)
    await until(() => pushing.health.last_error !== null)
    await rested()
    await pushing.pass(1_000)
    await pushing.gathered()
    const names = pushing.names.filter((name) => name !== 'agent.run').slice(4)
    assert.deepEqual(names.slice(4), [
      'second3',
      'second4',
      'second5',
      ...Array.from({ length: 7 }, (_, n) => `third${n}`),
    ])
    assert.equal(pushing.health.dropped, 3)
  })

  it('waits for a record, and drops a span without one', async (test) => {
    const pushing = await startPush(test)
    const trace_id = await ingest(pushing, 1)
    await pushing.bench.gateway.storage.remove('spans', { trace_id }, 10)
    await pushing.pass(2_000)
    assert.deepEqual([pushing.counts, pushing.health.queued], [[0, 0, 0], 1])
    for (let turn = 0; turn < 5; turn++) await pushing.pass(2_000)
    assert.deepEqual([pushing.counts, pushing.health.queued], [[0, 1, 0], 0])
  })
})

describe('the shutdown', () => {
  it('sends the queue and the roots of active runs', async (test) => {
    const pushing = await startPush(test)
    await ingest(pushing, 600)
    await until(() => pushing.health.sent === 512)
    await pushing.bench.close()
    assert.deepEqual([pushing.counts, pushing.names.length], [[601, 0, 0], 601])
  })

  it('takes at most two seconds', async (test) => {
    const pushing = await startPush(test, { scripts: [{ silent: true }] })
    await ingest(pushing, 600)
    await until(() => pushing.receiver.requests.length === 1)
    let isClosed = false
    const closed = pushing.bench.close().then(() => {
      isClosed = true
    })
    await rested()
    await pushing.tick(1_999)
    assert.equal(isClosed, false)
    await pushing.tick(1)
    await closed
    await until(() => pushing.health.dropped === 601)
    assert.deepEqual([pushing.counts, pushing.health.queued], [[0, 601, 0], 0])
  })

  it('retries a waiting batch once', async (test) => {
    const pushing = await startPush(test, { scripts: [{ status: 503 }, { status: 503 }] })
    await ingest(pushing, 1)
    await fails(pushing, 2_000)
    await pushing.bench.close()
    assert.deepEqual(pushing.sizes, [1, 1, 1])
    assert.deepEqual(pushing.counts, [1, 1, 0])
  })
})
