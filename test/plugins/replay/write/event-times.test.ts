import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { TraceEvent } from '#lib/trace'
import { type Bench, type Bundle, expecting, startReplay } from '../kit.ts'

/** Long before the requests, in seconds since 1970. */
const T0 = 1_600_000_000
const at = (seconds: number): string => `${T0 + seconds}000000000`

describe('an event without a time', () => {
  let bench: Bench
  before(async () => {
    bench = await startReplay()
  })
  after(() => bench.close())
  /** Seconds from T0 to each event of the run, those of spans first. `now` is the time of the request. */
  const times = async (body: object): Promise<readonly (number | 'now')[]> => {
    const { trace_id } = expecting<{ trace_id: string }>(201, await bench.send('POST', '/api/v1/traces', body))
    const { spans, events } = expecting<Bundle>(200, await bench.send('GET', `/api/v1/runs/${trace_id}`))
    const now = bench.clock.now() * 1_000_000
    const told = ({ time_ns }: TraceEvent) => (Number(time_ns) >= now ? 'now' : Number(time_ns) / 1e9 - T0)
    return [...spans.flatMap((span) => span.events), ...events].map(told)
  }
  const events = [{ name: 'first' }, { name: 'second' }]

  const cases = [
    ['is when its span ended', { spans: [{ name: 'x', start_ns: at(0), end_ns: at(9), events }] }, [9, 9]],
    ['is when its span was, which has but a start', { spans: [{ name: 'x', start_ns: at(5), events }] }, [5, 5]],
    [
      'is when the span ended that it names',
      { spans: [{ id: 's', name: 'x', end_ns: at(9) }], events: [{ name: 'y', span_id: 's' }] },
      [9],
    ],
    [
      'is now where its span goes on',
      { spans: [{ name: 'x', status: 'running', start_ns: at(0), events }] },
      ['now', 'now'],
    ],
    ['is now where nothing is said of a time', { spans: [{ name: 'x', events: [{ name: 'y' }] }] }, ['now']],
    [
      'of the run itself is when the last of its spans ended',
      {
        spans: [
          { name: 'x', end_ns: at(9) },
          { name: 'y', end_ns: at(5) },
        ],
        events: [{ name: 'z' }],
      },
      [9],
    ],
    ['of the run itself is when that ended', { start_ns: at(0), end_ns: at(9), events: [{ name: 'z' }] }, [9]],
    [
      'of the run itself is now where that goes on',
      { status: 'running', start_ns: at(0), events: [{ name: 'z' }] },
      ['now'],
    ],
  ] as const
  for (const [what, body, wanted] of cases)
    it(what, async () => {
      assert.deepEqual(await times(body), wanted)
    })

  it('has the end of its span, at any distance in an import file', async () => {
    const line = (record: object) => JSON.stringify({ trace_id: 'apart', ...record })
    const file = [
      line({ type: 'run', schema: 'trace.v1' }),
      line({ type: 'span', id: 'long', name: 'x', end_ns: at(9) }),
      ...Array.from({ length: 600 }, (_, n) => line({ type: 'span', id: `s${n}`, name: 'x', end_ns: at(5) })),
      line({ type: 'event', id: 'e', span_id: 'long', name: 'y' }),
    ]
    expecting(201, await bench.send('POST', '/api/v1/runs/import', file.join('\n'), { 'content-type': 'text/plain' }))
    const { spans } = expecting<Bundle>(200, await bench.send('GET', '/api/v1/runs/apart'))
    const [event] = spans.flatMap((span) => span.events)
    assert.equal(String(event?.time_ns), String(Number(at(9))))
  })
})
