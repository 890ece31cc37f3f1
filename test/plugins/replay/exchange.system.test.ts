import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { after, before, describe, it } from 'node:test'
import { type Change, GuardError } from 'guard-gateway/core'
import { type ExportFormat, exportFormatKind } from '#lib/export-format'
import type { Run } from '#lib/trace'
import { streamTrace } from '#lib/trace-file'
import type { ImportAnswer } from '../../../plugins/replay/import/import.ts'
import { runReader } from '../../../plugins/replay/read/run-reader.ts'
import { aSpan } from '../../kit/traces.ts'
import { type Bench, expecting, refused, startReplay } from './kit.ts'
import { watched } from './watched-storage.ts'

/** A dozen pages, and more than one batch. */
const SPANS = 3_000
const T0 = 1_780_000_000_000_000_001n
/** Rows per page and changes per batch: the maximum in memory for runs of any size. */
const PAGE_ROWS = 256
const BATCH_CHANGES = 500

const at = (n: number): string => `s${n}`

/** Stores a run of this many spans, every tenth with an event. Direct writes are faster than the run writer. */
const writeRun = async ({ gateway }: Bench, trace_id: string, spans: number): Promise<void> => {
  const root = { id: at(0), name: 'agent.run', status: 'ok', start_ns: T0, end_ns: T0 + BigInt(spans) * 10n }
  const [kept] = await gateway.keep([
    {
      owner: 'client',
      origin: 'api',
      run: { trace_id, name: 'Large', tags: ['x'] },
      spans: [root],
      events: [],
      artifacts: [],
    },
  ])
  assert.ok(kept)
  const changes: Change[] = []
  for (let n = 1; n < spans; n++) {
    const start_ns = T0 + BigInt(n) * 10n
    const span = aSpan({
      id: at(n),
      parent_id: n % 100 === 0 ? null : at(Math.floor(n / 3)),
      name: 'tool.call',
      kind: 'tool',
      start_ns,
      end_ns: start_ns + 5n,
      attributes: { n },
    })
    changes.push({ table: 'spans', put: { trace_id, ...span } })
    if (n % 10 !== 0) continue
    const event = {
      id: `e${n}`,
      span_id: at(n),
      name: 'tool.result',
      time_ns: start_ns + 2n,
      severity: 'info' as const,
      owner: 'client' as const,
      request_id: null,
      attributes: {},
    }
    changes.push({ table: 'events', put: { trace_id, ...event } })
  }
  for (let from = 0; from < changes.length; from += BATCH_CHANGES)
    assert.ok(await gateway.storage.write(changes.slice(from, from + BATCH_CHANGES)))
  assert.ok(
    await gateway.storage.patch('runs', trace_id, { span_count: spans, event_count: Math.ceil(spans / 10) - 1 }),
  )
}

/** A file without the parts that an import changes, with ids numbered in order of appearance. */
const saidBy = (text: string, trace_id: string): string => {
  const places = new Map<string, number>()
  const placeOf = (id: string): string => {
    const place = places.get(id) ?? places.size
    places.set(id, place)
    return `#${place}`
  }
  return text
    .replaceAll(`"${trace_id}"`, '"run"')
    .replaceAll(/"(?:traceId|recorded_ns|origin|source_trace_id|exported_at)":(?:"[^"]*"|\d+|null),?/g, '')
    .replaceAll(/"guard.origin","value":\{"stringValue":"[a-z]+"/g, '')
    .replaceAll(/("(?:parentSpanId|spanId)":)?"(?:[se]\d+|[0-9a-f]{16})"/g, placeOf)
}

describe('a run of many pages', () => {
  const { seen, plugin } = watched()
  let bench: Bench
  before(async () => {
    bench = await startReplay({ storage: plugin })
    await writeRun(bench, 'large', SPANS)
  })
  after(() => bench.close())
  const formatOf = (id: string): ExportFormat => bench.gateway.registry(exportFormatKind).need(id)
  const exported = async (trace_id: string, format: string): Promise<string> =>
    (await bench.send('GET', `/api/v1/runs/${trace_id}/export?format=${format}`)).text

  for (const format of ['json', 'jsonl', 'otel'])
    it(`is exported as ${format}, imported and exported again without change except its ids, one page of rows at a time`, async () => {
      Object.assign(seen, { finds: 0, largestPage: 0, largestBatch: 0 })
      const first = await exported('large', format)
      const { imported } = expecting<ImportAnswer>(201, await bench.send('POST', '/api/v1/runs/import', first))
      const [copy] = imported
      assert.ok(copy?.remapped)
      const second = await exported(copy.trace_id, format)
      assert.ok(saidBy(second, copy.trace_id) === saidBy(first, 'large'), `${format} is not as it was`)
      assert.ok(seen.finds > (2 * SPANS) / PAGE_ROWS)
      assert.deepEqual([seen.largestPage, seen.largestBatch], [PAGE_ROWS, BATCH_CHANGES])
    })

  it('is read with backpressure', async () => {
    for (const id of ['json', 'jsonl', 'otel']) {
      const reader = await runReader(bench.gateway.storage, 'large')
      const pieces = streamTrace(formatOf(id), reader)
      seen.finds = 0
      const held: number[] = []
      for (let taken = 0; taken < 4; taken++) {
        const { value } = await pieces.next()
        assert.ok(typeof value === 'string' && value.length < 40_000)
        held.push(seen.finds)
      }
      // a chunk has about one page of spans and events, so each chunk needs one more page
      assert.ok(
        held.every((finds, taken) => finds <= 2 * (taken + 2)),
        `${id}: ${held}`,
      )
      await pieces.return(undefined)
    }
  })

  it('is read no further while the client does not read the response', async () => {
    const response = await bench.stream('/api/v1/runs/large/export?format=jsonl')
    const looked = seen.finds
    const iterator = response[Symbol.asyncIterator]()
    await iterator.next()
    for (let turn = 0; turn < 500; turn++) await new Promise(setImmediate)
    const read = seen.finds - looked
    assert.ok(read <= 4, `${read} finds`)
    response.destroy()
  })
})

describe('a run that is imported in batches', () => {
  const { seen, plugin } = watched()
  let bench: Bench
  before(async () => {
    bench = await startReplay({ storage: plugin })
  })
  after(() => bench.close())
  const COUNT = 1_200
  const file = (trace_id: string, last: object = {}): string =>
    [
      { type: 'run', schema: 'trace.v1', trace_id },
      ...Array.from({ length: COUNT }, (_, n) => ({
        type: 'span',
        trace_id,
        id: at(n),
        name: 'step',
        ...(n === COUNT - 1 ? last : {}),
      })),
    ]
      .map((one) => JSON.stringify(one))
      .join('\n')
  const send = (text: string) =>
    bench.send('POST', '/api/v1/runs/import', text, { 'content-type': 'application/octet-stream' })
  const stored = async (trace_id: string): Promise<readonly number[]> => {
    const { storage } = bench.gateway
    const spans = await storage.find('spans', { where: { trace_id }, limit: 10_000 })
    const claims = await storage.find('staged_runs')
    return [spans.rows.length, claims.rows.length]
  }

  it('is invisible to readers and to other writers of its id until it is complete', async () => {
    const sight: number[] = []
    let ingested: Promise<unknown> | undefined
    seen.beforeWrite = async () => {
      sight.push((await bench.send('GET', '/api/v1/runs/staged')).status)
      ingested ??= bench.send('POST', '/api/v1/traces', { trace_id: 'staged', spans: [{ id: 'more', name: 'x' }] })
    }
    const [imported] = expecting<ImportAnswer>(201, await send(file('staged'))).imported
    seen.beforeWrite = async () => {}
    await ingested
    assert.deepEqual([imported?.trace_id, imported?.spans, sight.slice(0, 3)], ['staged', COUNT, [404, 404, 404]])
    assert.deepEqual(await stored('staged'), [COUNT + 1, 0])
    const { run } = expecting<{ readonly run: Run }>(200, await bench.send('GET', '/api/v1/runs/staged'))
    assert.deepEqual([run.span_count, run.origin], [COUNT + 2, 'import'])
  })

  it('leaves no records if its last record is rejected or the storage fails', async () => {
    const many = Object.fromEntries(Array.from({ length: 257 }, (_, n) => [`k${n}`, n]))
    const error = refused(400, 'TOO_MANY_ATTRIBUTES', await send(file('odd', { attributes: many })))
    assert.match(error.message, new RegExp(`^In span ${COUNT} of run "odd": `))
    assert.deepEqual(await stored('odd'), [0, 0])
    let writes = 0
    seen.beforeWrite = async () => {
      if (++writes === 3) throw new GuardError('STORAGE_FULL')
    }
    refused(503, 'STORAGE_FULL', await send(file('odd')))
    seen.beforeWrite = async () => {}
    assert.deepEqual(await stored('odd'), [0, 0])
    assert.equal((await bench.send('GET', '/api/v1/runs/odd')).status, 404)
    expecting(201, await send(file('odd')))
  })

  it('is rejected while another process imports the same id, and blocks that run for others', async () => {
    const claim = { trace_id: 'theirs', writer: 'elsewhere:1:1', claimed_ns: BigInt(bench.clock.now()) * 1_000_000n }
    await bench.gateway.storage.put('staged_runs', claim)
    refused(503, 'STORAGE_BUSY', await send(file('theirs')))
    refused(503, 'STORAGE_BUSY', await bench.send('POST', '/api/v1/traces', { trace_id: 'theirs' }))
    assert.deepEqual(await stored('theirs'), [0, 1])
    await bench.gateway.storage.write([{ table: 'staged_runs', key: 'theirs', remove: true }])
    expecting(201, await bench.send('POST', '/api/v1/traces', { trace_id: 'theirs' }))
  })

  it('is removed at the next start if its process exited before it was complete', async () => {
    const { storage } = bench.gateway
    const gone = `${hostname()}:999999999:1`
    await storage.put('staged_runs', { trace_id: 'left', writer: gone, claimed_ns: 1n })
    for (let n = 0; n < 3; n++) await storage.put('spans', { trace_id: 'left', ...aSpan({ id: at(n) }) })
    assert.deepEqual(await stored('left'), [3, 1])
    // more rows than one page, after the rows of a stored run
    const first = Array.from({ length: 1_200 }, (_, n) => ({ trace_id: `also-${n}`, writer: gone, claimed_ns: 1n }))
    await storage.write(first.map((put) => ({ table: 'staged_runs', put })))
    await storage.put('spans', { trace_id: 'also-1199', ...aSpan({ id: at(0) }) })
    expecting(201, await bench.send('POST', '/api/v1/traces', { trace_id: 'whole', spans: [{ name: 'x' }] }))
    await storage.put('staged_runs', { trace_id: 'whole', writer: gone, claimed_ns: 1n })
    await bench.gateway.hooks.open.promise({ beside: false })
    assert.deepEqual(await stored('left'), [0, 0])
    assert.deepEqual(await stored('also-1199'), [0, 0])
    assert.deepEqual(await stored('whole'), [1, 0])
    assert.deepEqual(bench.faults, [])
  })
})
