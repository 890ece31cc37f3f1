import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { ImportAnswer } from '../../../../plugins/replay/import/import.ts'
import { aCall, aDecision, settled } from '../../../kit/settled.ts'
import { type Bench, expecting, startReplay } from '../kit.ts'

const formats = ['json', 'jsonl', 'otel'] as const

describe('a file that was exported from a run of this store', () => {
  let bench: Bench
  let recorded: string
  before(async () => {
    bench = await startReplay()
    const spans = (count: number) =>
      Array.from({ length: count }, (_, n) => ({
        name: `step ${n}`,
        attributes: { n, note: 'x'.repeat(100) },
        events: [{ name: 'seen', attributes: { n } }],
        spans: [{ name: 'tool.call', attributes: { 'gen_ai.tool.name': 'read' } }],
      }))
    const artifacts = [{ path: 'a.txt', size: 3 }]
    expecting(201, await bench.send('POST', '/api/v1/traces', { trace_id: 'small', spans: spans(2), artifacts }))
    // its export is read in a thread
    expecting(201, await bench.send('POST', '/api/v1/traces', { trace_id: 'large', spans: spans(1_500) }))
    const call = aCall({ id: 'guardreq_1', at: bench.clock.now(), session: null })
    await bench.gateway.hooks.decision.promise(aDecision(), call)
    await bench.settle(settled({ call, ended_at: bench.clock.now() + 5, forwarded_at: call.at }))
    const { runs } = expecting<{ runs: { trace_id: string; origin: string }[] }>(
      200,
      await bench.send('GET', '/api/v1/runs'),
    )
    recorded = runs.find(({ origin }) => origin === 'gateway')?.trace_id ?? ''
  })
  after(() => bench.close())

  const exported = async (id: string, format: string): Promise<string> =>
    (await bench.send('GET', `/api/v1/runs/${id}/export?format=${format}`)).text
  const imported = async (file: string, query = '') => {
    const answer = await bench.send('POST', `/api/v1/runs/import${query}`, file, {
      'content-type': 'application/octet-stream',
    })
    const [one] = (answer.body as unknown as ImportAnswer).imported
    assert.ok(one, answer.text)
    return one
  }

  for (const format of formats)
    for (const id of ['small', 'large'])
      it(`names it: ${format}, ${id}`, async () => {
        const dry = await imported(await exported(id, format), '?dry_run=true')
        assert.equal(dry.identical_to, id)
        assert.deepEqual((await imported(await exported(id, format))).identical_to, id)
      })

  for (const format of formats)
    it(`names a run that the gateway recorded: ${format}`, async () => {
      assert.notEqual(recorded, '')
      assert.equal((await imported(await exported(recorded, format))).identical_to, recorded)
    })

  it('names an imported run that was exported again', async () => {
    const first = await imported((await exported('small', 'json')).replaceAll('"small"', '"elsewhere"'))
    assert.equal(first.trace_id, 'elsewhere')
    for (const format of formats)
      assert.equal((await imported(await exported('elsewhere', format))).identical_to, 'elsewhere')
  })

  it('names nothing once the run has changed', async () => {
    const body = { trace_id: 'growing', spans: [{ name: 'a' }] }
    expecting(201, await bench.send('POST', '/api/v1/traces', body))
    const file = await exported('growing', 'jsonl')
    expecting(200, await bench.send('POST', '/api/v1/traces', { trace_id: 'growing', spans: [{ name: 'b' }] }))
    assert.equal((await imported(file)).identical_to, null)
  })
})
