import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { noUsage } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { responses } from 'guard-gateway/plugins/api-styles/responses'
import { aCall, aDecision, settled } from '../../../kit/settled.ts'
import { type Bench, type Bundle, expecting, startReplay } from '../kit.ts'
import { cases, FILE } from './reply-cases.ts'

describe('a reply', () => {
  let bench: Bench
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-prices-'))
    await writeFile(join(folder, 'prices.yml'), FILE)
    bench = await startReplay({ pricing: join(folder, 'prices.yml') })
  })
  after(async () => {
    await bench.close()
    await rm(folder, { recursive: true, force: true })
  })

  for (const [index, { name, style, body, cost, tier, geo = null }] of cases.entries())
    it(`is priced by its terms: ${name}`, async () => {
      const meter = style.meter({ status: 200, stream: typeof body === 'string' })
      meter.push(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))
      const reading = meter.end()
      const call = aCall({ id: `guardreq_${index}`, style: style.id })
      await bench.gateway.hooks.decision.promise(aDecision(), call)
      await bench.settle(settled({ call, reading, usage: reading.usage ?? noUsage }))
      const row = await bench.gateway.storage.get('calls', call.id)
      assert.deepEqual(
        [row?.cost_micro, row?.cost_source, row?.service_tier, row?.inference_geo],
        [Math.round(cost), 'priced', tier, geo],
      )
      const run = expecting<Bundle>(200, await bench.send('GET', `/api/v1/runs/${row?.trace_id}`))
      const span = run.spans.find(({ id }) => id === row?.span_id)
      const told =
        style === responses || style === chatCompletions
          ? 'openai.response.service_tier'
          : 'gen_ai.response.service_tier'
      assert.equal(span?.attributes[told], tier ?? undefined)
      assert.equal(span?.attributes['guard.inference_geo'], geo ?? undefined)
    })
})
