import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { pages } from '#lib/paging'
import type { CallRecord } from '#lib/trace'
import { random as randomFrom } from '../../../../bench/kit/random.ts'
import { aggregatesCsv, csvLine, type AggregateRange as Range } from '../../../../plugins/recorder/aggregates.ts'
import { aCall, aDecision, aSession, blocked, NOON, settled } from '../../../kit/settled.ts'
import { type Bench, startBench } from '../kit.ts'

const HOUR = 3_600_000
const FAILURES: ReadonlySet<string> = new Set(['upstream_error', 'unreachable', 'truncated'])

const measuresOfCall = (call: CallRecord): Readonly<Record<string, unknown>> => ({
  ...call,
  ...{ requests: 1, blocked_retries: call.retries, duration_ms: Math.max(0, call.ended_at - call.received_at) },
  ...{ allowed: call.decision === 'allow', flagged: call.decision === 'shadow_flag' },
  ...{ blocked: call.decision === 'block', errors: FAILURES.has(call.outcome) },
})

describe('aggregates from the sums by hour', () => {
  let bench: Bench
  before(async () => {
    bench = await startBench()
    const random = randomFrom(5)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
    for (let n = 0; n < 600; n++) {
      // busy hours, quiet days between, and a clock that goes back
      const at = NOON + Math.floor(random() * 30) * 7 * HOUR + Math.floor(random() * HOUR)
      const call = aCall({
        id: `guardreq_${n}`,
        ...{ at, session: aSession(), style: pick(['messages', 'responses']), project_id: pick(['shop', 'lab']) },
        ...{ agent_id: pick(['a', null]), envelope: { ...aCall().envelope, model: pick(['m-1', '=x', 'm,"2']) } },
      })
      const decision = aDecision({ decision: pick(['allow', 'shadow_flag'] as const) })
      const cost = { cost_micro: Math.floor(random() * 1e6), cost_source: 'priced', price_version: null } as const
      const outcome = pick(['ok', 'upstream_error', 'unreachable', 'truncated'] as const)
      const rest = { ended_at: at + Math.floor(random() * 90_000), upstream: pick(['main', null, 'playground']) }
      await bench.settle(random() < 0.2 ? blocked(call) : settled({ call, decision, cost, outcome, ...rest }))
      if (random() < 0.1)
        await bench.settle(blocked(aCall({ id: `guardreq_again_${n}`, at: at + HOUR }), `guardreq_${n}`))
    }
    assert.deepEqual(bench.faults, [])
  })
  after(() => bench.close())

  const callsOf = async ({ since = 0, until = Number.POSITIVE_INFINITY, project_id }: Range) => {
    const calls: CallRecord[] = []
    for await (const page of pages(bench.gateway.storage, 'calls', {})) calls.push(...page)
    return calls
      .filter(({ received_at }) => received_at >= since && received_at < until)
      .filter((call) => project_id === undefined || call.project_id === project_id)
  }

  /** The lines that the calls on record add up to, in any order; the columns are those of the header. */
  const linesOfCalls = async (range: Range, header: string): Promise<readonly string[]> => {
    const [, , , , , , ...measures] = header.trim().replaceAll('"', '').split(',')
    const groups = Map.groupBy(await callsOf(range), (call) => {
      const { project_id, agent_id, style, model_requested, upstream } = call
      const day = new Date(call.received_at).toISOString().slice(0, 10)
      return csvLine([day, project_id, agent_id, style, model_requested, upstream]).trim()
    })
    return [...groups].map(([name, calls]) => {
      const own = calls.map(measuresOfCall)
      const sums = measures.map((measure) => own.reduce((sum, one) => sum + Number(one[measure] ?? 0), 0))
      return `${name},${sums.join(',')}\r\n`
    })
  }
  const alike = async (range: Range): Promise<number> => {
    const lines: string[] = []
    for await (const line of aggregatesCsv(bench.gateway.storage, range)) lines.push(line)
    const [header = '', ...sums] = lines
    assert.deepEqual(sums.toSorted(), (await linesOfCalls(range, header)).toSorted(), JSON.stringify(range))
    const days = sums.map((line) => line.slice(0, 12))
    assert.deepEqual(days, days.toSorted())
    return lines.length
  }

  it('are those of the calls, of everything and of one project', async () => {
    assert.ok((await alike({})) > 100)
    assert.ok((await alike({ project_id: 'lab' })) > 50)
    assert.equal(await alike({ project_id: 'none' }), 1)
  })
  it('are those of the calls in any range, also one within an hour', async () => {
    const random = randomFrom(9)
    const spans = [1, 1_000, 0.5 * HOUR, HOUR, 1.5 * HOUR, 24 * HOUR, 25 * HOUR, 100 * HOUR]
    for (let n = 0; n < 60; n++) {
      const since = NOON + Math.floor(random() * 220 * HOUR)
      const until = since + (spans[n % spans.length] ?? 0)
      await alike({ since, until })
      const whole = { since: since - (since % HOUR), until: until - (until % HOUR) + HOUR }
      await alike(n % 2 === 0 ? whole : { ...whole, project_id: 'shop' })
      await alike(n % 2 === 0 ? { since } : { until })
    }
    assert.equal(await alike({ since: NOON + HOUR, until: NOON }), 1)
  })
})
