import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, mock } from 'node:test'
import type { ImportAnswer } from '../../../../plugins/replay/import/import.ts'
import { startGateway } from '../../../kit/gateway.ts'
import { type Answer, type Bench, type Bundle, expecting, refused, startReplay } from '../kit.ts'
import { greedy, local, waiting } from '../waiting-format.ts'

const T0 = 1_780_000_000_000_000_001n
/** Larger than one chunk. */
const LARGE = 300_000

const line = (record: object): string => `${JSON.stringify(record)}\n`
const span = (n: number, more: object = {}) => ({
  type: 'span',
  trace_id: 'large',
  id: `s${n}`,
  parent_id: n === 0 ? null : `s${Math.floor(n / 3)}`,
  name: 'tool.call',
  start_ns: String(T0 + BigInt(n)),
  end_ns: String(T0 + BigInt(n) + 1n),
  attributes: { 'tool.name': `tool-${n}`, note: 'x'.repeat(100), deep: JSON.parse('{"__proto__":{"n":9}}') },
  ...more,
})
const large = (...last: readonly object[]): string =>
  line({ type: 'run', schema: 'trace.v1', trace_id: 'large', status: 'ok' }) +
  Array.from({ length: 1_500 }, (_, n) => line(span(n))).join('') +
  last.map(line).join('')

describe('a large import file', () => {
  let bench: Bench
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-import-'))
    bench = await startReplay({ plugins: [waiting, greedy, local] })
  })
  after(async () => {
    await bench.close()
    await rm(folder, { recursive: true, force: true })
  })
  const send = (file: string, query = ''): Promise<Answer> => bench.send('POST', `/api/v1/runs/import${query}`, file)
  const padded = (text: string): string => text.padEnd(LARGE)

  it('is imported completely, exactly and in order, on either thread', async () => {
    const file = large({ type: 'event', trace_id: 'large', span_id: 's1499', name: 'e' })
    assert.ok(file.length > LARGE)
    const { imported } = expecting<ImportAnswer>(201, await send(file))
    assert.deepEqual(
      imported.map(({ trace_id, spans, events }) => [trace_id, spans, events]),
      [['large', 1_500, 1]],
    )
    const { run, spans } = expecting<Bundle>(200, await bench.send('GET', '/api/v1/runs/large'))
    assert.deepEqual([run.origin, run.span_count, run.event_count], ['import', 1_501, 1])
    const last = spans.find(({ id }) => id === 's1499')
    assert.deepEqual(
      [last?.parent_id, last?.start_ns, last?.label, last?.events.length],
      ['s499', T0 + 1_499n, 'tool-1499', 1],
    )
    assert.match(JSON.stringify(last?.attributes), /"deep":\{"__proto__":\{"n":9\}\}/)
    const again = expecting<ImportAnswer>(201, await send(file)).imported[0]
    assert.deepEqual([again?.remapped, again?.identical_to], [true, 'large'])
    const copy = expecting<Bundle>(200, await bench.send('GET', `/api/v1/runs/${again?.trace_id}`))
    const names = new Map(copy.spans.map(({ id, label }) => [id, label]))
    const child = copy.spans.find(({ label }) => label === 'tool-1499')
    assert.equal(names.get(child?.parent_id ?? ''), 'tool-499')
  })

  it('is rejected with the same code, line and path as a small file', async () => {
    const cases: readonly (readonly [last: object, code: string, path: string])[] = [
      [span(7), 'DUPLICATE_ID', '/id'],
      [span(1_500, { parent_id: 's1500' }), 'PARENT_CYCLE', '/parent_id'],
    ]
    for (const [last, code, path] of cases) {
      const error = refused(400, code, await send(large(last)))
      assert.deepEqual([error.line, error.path], [1_502, path], code)
    }
    const cut = refused(400, 'INVALID_JSON', await send(large().slice(0, -20)))
    assert.equal(cut.line, 1_501)
    assert.deepEqual(refused(400, 'INVALID_IMPORT', await send(padded('hello'))).known, [
      'json',
      'jsonl',
      'otel',
      'waiting',
      'greedy',
      'local',
    ])
  })

  it('is read on the main thread if its format has no module', async () => {
    const { imported } = expecting<ImportAnswer>(201, await send(padded('local mine ')))
    assert.equal(imported[0]?.trace_id, 'mine')
  })

  it('beyond the memory limit is rejected, and the gateway continues', async () => {
    refused(413, 'BODY_TOO_LARGE', await send(padded('greedy ')))
    expecting(200, await bench.send('GET', '/api/v1/runs'))
  })

  it('does not block other requests', async () => {
    const gate = join(folder, 'open')
    let done = false
    const importing = send(padded(`waiting ${gate} `)).finally(() => {
      done = true
    })
    expecting(200, await bench.send('GET', '/api/v1/runs'))
    expecting(201, await bench.send('POST', '/api/v1/traces', { trace_id: 'meanwhile' }))
    assert.equal(done, false)
    writeFileSync(gate, '')
    assert.equal(expecting<ImportAnswer>(201, await importing).imported[0]?.trace_id, 'waited')
  })

  it('of many small runs yields to other work', async () => {
    const runs = Array.from({ length: 50 }, (_, n) => line({ type: 'run', schema: 'trace.v1', trace_id: `small-${n}` }))
    let now = 0
    // every reading of the clock exceeds the time slice
    const clock = mock.method(performance, 'now', () => (now += 100))
    let turns = 0
    let turning = setImmediate(function turn() {
      turns++
      turning = setImmediate(turn)
    })
    try {
      expecting(201, await send(runs.join('')))
    } finally {
      clock.mock.restore()
      clearImmediate(turning)
    }
    // yields for reading the records, building the rows and comparing them
    assert.ok(turns >= 5 * runs.length, `${turns} turns`)
  })

  it('stops when its client disconnects, and the next one starts', async () => {
    const gateway = await startGateway({ plugins: [waiting] })
    try {
      const asked = request(`${gateway.url}/api/v1/runs/import`, { method: 'POST', agent: false })
      asked.on('error', () => {})
      asked.end(padded(`waiting ${join(folder, 'never')} `))
      await once(asked, 'finish')
      asked.destroy()
      const { status, text } = await gateway.request('POST', '/api/v1/runs/import', large())
      assert.equal(status, 201, text)
      assert.equal((await gateway.request('GET', '/api/v1/runs/waited')).status, 404)
    } finally {
      await gateway.close()
    }
  })

  it('waits for its turn, up to a limit', async () => {
    const gate = join(folder, 'turn')
    const all = Array.from({ length: 6 }, () => send(padded(`waiting ${gate} `)))
    refused(503, 'OVERLOADED', await Promise.race(all))
    writeFileSync(gate, '')
    const statuses = (await Promise.all(all)).map(({ status }) => status)
    assert.deepEqual(statuses.sort(), [201, 201, 201, 201, 201, 503])
    expecting(201, await send('local late '))
  })

  it('stops when the gateway closes', async () => {
    const closing = await startReplay({ plugins: [waiting] })
    const importing = closing.send('POST', '/api/v1/runs/import', padded(`waiting ${join(folder, 'never')} `))
    expecting(200, await closing.send('GET', '/api/v1/runs'))
    await closing.close()
    refused(503, 'SHUTTING_DOWN', await importing)
  })
})
