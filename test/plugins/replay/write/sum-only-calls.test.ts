import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type CallRecord, newSpanId } from '#lib/trace'
import { OpenRun } from '../../../../plugins/replay/write/open-run.ts'
import { newRow } from '../../../../plugins/replay/write/run-row.ts'
import { aCall, NOON, settled } from '../../../kit/settled.ts'
import { startBench } from '../../recorder/kit.ts'

const WRITTEN_AT = NOON + 1_000

/** A run with a row that was written after an equal call. */
const begun = async () => {
  const bench = await startBench()
  await bench.settle(settled({ call: aCall() }))
  const call = (await bench.gateway.storage.get('calls', 'guardreq_1')) as CallRecord
  await bench.close()
  const row = newRow({ trace_id: 'a'.repeat(32) }, 'gateway', BigInt(WRITTEN_AT) * 1_000_000n)
  const run = new OpenRun(row, true)
  const trace = () => ({ trace_id: row.trace_id, span_id: newSpanId(), parent_span_id: null })
  run.addCall(call, trace())
  run.noteSumOnly(call)
  const takes = (ended_at: number) => run.take({ ...call, ended_at }, trace()) !== undefined
  return { run, takes }
}

describe('a request that equals the previous one', () => {
  it('takes the fast path only if its end shows that the row is outdated', async () => {
    const { run, takes } = await begun()
    assert.equal(takes(WRITTEN_AT), false)
    assert.equal(takes(WRITTEN_AT + 1), true)
    assert.deepEqual([run.size, run.summary().event_count], [2, 2])
  })
  it('is examined again after any other change of the run', async () => {
    const { run, takes } = await begun()
    run.row = { ...run.row, status: 'error' }
    assert.equal(takes(WRITTEN_AT + 1), false)
  })
})
