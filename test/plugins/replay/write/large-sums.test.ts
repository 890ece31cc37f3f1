import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { readJson } from '#lib/json'
import { type Bench, type Bundle, expecting, startReplay } from '../kit.ts'

const UTMOST = 2 ** 53
const SPANS = 1_100

describe('sums of a run', () => {
  let bench: Bench
  before(async () => {
    bench = await startReplay({ backend: 'sqlite' })
  })
  after(() => bench.close())

  it('are limited to the range of a column, and the run is stored', async () => {
    const attributes = {
      'gen_ai.usage.input_tokens': UTMOST,
      'gen_ai.usage.output_tokens': UTMOST,
      'guard.cost_micro': UTMOST,
    }
    const spans = Array.from({ length: SPANS }, (_, n) => ({ id: `s${n}`, name: 'gen_ai.request', attributes }))
    expecting(201, await bench.send('POST', '/api/v1/traces', { trace_id: 'large', spans }))
    const { text } = await bench.send('GET', '/api/v1/runs/large')
    const { run } = readJson(text) as Bundle
    const most = 2n ** 63n - 1n
    assert.deepEqual([run.input_tokens, run.output_tokens, run.total_tokens, run.cost_micro], [most, most, most, most])
    assert.deepEqual(bench.faults, [])
  })
})
