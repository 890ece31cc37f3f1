import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Call } from 'guard-gateway/core'
import type { RunSummary } from '#lib/trace-file'
import { aCall, aDecision, aSession, settled } from '../../../kit/settled.ts'
import { type Bench, type Bundle, expecting, startReplay } from '../kit.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const OTHER = TRACE.replaceAll('0', '1')
const session = aSession()
const { project_id } = session.row

describe('a client’s run that model requests join', () => {
  let bench: Bench
  beforeEach(async () => {
    bench = await startReplay()
  })
  afterEach(() => bench.close())

  const begun = (trace_id: string, more: object = {}) =>
    bench.send('POST', '/api/v1/traces', { trace_id, project_id, status: 'running', ...more })
  const joined = async (trace_id: string, more: Partial<Call>) => {
    const headers = { traceparent: `00-${trace_id}-b7ad6b7169203331-01` }
    const call = aCall({ at: bench.clock.now(), session, headers, ...more })
    await bench.gateway.hooks.decision.promise(aDecision(), call)
    await bench.settle(settled({ call, ended_at: bench.clock.now(), forwarded_at: call.at }))
    assert.deepEqual(bench.faults, [])
  }
  const labels = async (trace_id: string) => {
    const { session_id, agent_id } = expecting<Bundle>(200, await bench.send('GET', `/api/v1/runs/${trace_id}`)).run
    return [session_id, agent_id]
  }

  it('has session and agent of the first request, and is found by them', async () => {
    await begun(TRACE)
    await joined(TRACE, { id: 'guardreq_1', agent_id: 'a1' })
    assert.deepEqual(await labels(TRACE), [session.row.id, 'a1'])
    await joined(TRACE, { id: 'guardreq_2', agent_id: 'a2', session: aSession({ id: 'ses_c' }) })
    assert.deepEqual(await labels(TRACE), [session.row.id, 'a1'])
    const found = await bench.send('GET', `/api/v1/runs?session_id=${session.row.id}&q=a1`)
    assert.deepEqual(
      expecting<{ runs: readonly RunSummary[] }>(200, found).runs.map(({ trace_id }) => trace_id),
      [TRACE],
    )
  })

  it('keeps the labels that the client sets', async () => {
    await begun(OTHER, { session_id: 'theirs' })
    await joined(OTHER, { id: 'guardreq_3', agent_id: 'a1' })
    assert.deepEqual(await labels(OTHER), ['theirs', null])
  })
})
