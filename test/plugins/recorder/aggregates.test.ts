import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { aCall, aDecision, aSession, blocked, NOON, settled } from '../../kit/settled.ts'
import { type Bench, startBench } from './kit.ts'

const DAY = 86_400_000
const priced = (cost_micro: number) => ({ cost_micro, cost_source: 'priced', price_version: 'a1' }) as const
const HEADER =
  '"day","project_id","agent_id","style","model_requested","upstream","requests","allowed","flagged","blocked","blocked_retries","errors",' +
  '"input_tokens","cache_read_tokens","cache_write_tokens","output_tokens","reasoning_tokens","total_tokens","bytes_in","bytes_out","duration_ms","cost_micro"'

describe('GET /api/export/aggregates.csv', () => {
  let bench: Bench
  const bytes = aCall().body.length
  before(async () => {
    bench = await startBench()
    const session = aSession()
    const formula = { ...aCall().envelope, model: '=cmd()' }
    await bench.settle(
      settled({ call: aCall({ id: 'guardreq_next', at: NOON + DAY, session }), ended_at: NOON + DAY + 7 }),
      settled({ call: aCall({ id: 'guardreq_1', session }), cost: priced(2_500_000) }),
      settled({
        call: aCall({ id: 'guardreq_2', session }),
        decision: aDecision({ decision: 'shadow_flag' }),
        outcome: 'upstream_error',
        status: 529,
        cost: priced(1),
      }),
      blocked(aCall({ id: 'guardreq_3', session })),
      blocked(aCall({ id: 'guardreq_4', session }), 'guardreq_3'),
      settled({
        call: aCall({ id: 'guardreq_5', session, project_id: 'lab', agent_id: null, envelope: formula }),
        upstream: null,
        outcome: 'unreachable',
      }),
    )
    assert.deepEqual(bench.faults, [])
  })
  after(() => bench.close())

  const lines = async (query = '') =>
    (await bench.app.inject({ url: `/api/export/aggregates.csv${query}` })).body.split('\r\n')
  const today = `"2026-03-01","shop","builder","messages","m-1","main",3,1,1,1,1,1,40,0,0,20,0,60,${3 * bytes},1536,2700,2500001`
  const lab = `"2026-03-01","lab",,"messages","'=cmd()",,1,1,0,0,0,1,20,0,0,10,0,30,${bytes},512,900,0`
  const tomorrow = `"2026-03-02","shop","builder","messages","m-1","main",1,1,0,0,0,0,20,0,0,10,0,30,${bytes},512,7,0`

  it('sums by day, project, agent, style, model and upstream, oldest day first, with cost', async () => {
    assert.deepEqual(await lines(), [HEADER, today, lab, tomorrow, ''])
  })
  it('filters by project', async () => assert.deepEqual(await lines('?project_id=lab'), [HEADER, lab, '']))
  it('accepts days and times; the end is exclusive', async () => {
    assert.deepEqual(await lines('?since=2026-03-02'), [HEADER, tomorrow, ''])
    assert.deepEqual(await lines('?until=2026-03-02T12:00:00Z'), [HEADER, today, lab, ''])
    assert.deepEqual(await lines('?since=2026-03-02T13:00:00%2B01:00&until=2026-03-02T12:00:00.001Z'), [
      HEADER,
      tomorrow,
      '',
    ])
  })
  it('is a download', async () => {
    const { headers } = await bench.app.inject({ url: '/api/export/aggregates.csv' })
    assert.equal(headers['content-type'], 'text/csv; charset=utf-8; header=present')
    assert.equal(headers['content-disposition'], 'attachment; filename="aggregates.csv"')
  })
  it('rejects unknown filters and invalid times', async () => {
    const error = async (query: string) =>
      (await bench.app.inject({ url: `/api/export/aggregates.csv${query}` })).json().error
    assert.equal((await error('?model=x')).code, 'UNKNOWN_FILTER')
    for (const text of ['2026-13-45', '2026-02-31', '24h', '2026-01-31T12:00', '']) {
      const odd = await error(`?since=${text}`)
      assert.deepEqual([odd.code, odd.path], ['INVALID_REQUEST', '/since'], text)
      assert.match(odd.message, /^"since" is not a time: .*Send a day like/)
    }
  })
})
