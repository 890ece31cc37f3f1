import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exportFormatConforms, startService } from 'guard-gateway/test'
import { chromeTrace } from '../../examples/custom-export-format.ts'

exportFormatConforms(chromeTrace)

test('a run of the gateway is exported in the format', async () => {
  await using service = await startService({ plugins: [chromeTrace] })
  const { headers } = await service.request('POST', '/v1/chat/completions', {
    model: 'm-1',
    messages: [{ role: 'user', content: 'Hello' }],
  })
  const id = headers.get('x-guard-trace-id')
  const file = await service.request('GET', `/api/v1/runs/${id}/export?format=chrome_trace`)
  assert.equal(file.headers.get('content-type')?.split(';')[0], 'application/json')
  const { traceEvents } = file.json as { traceEvents: { name: string; ph: string; ts: number; dur?: number }[] }
  assert.ok(
    traceEvents.some(({ ph, ts, dur = -1 }) => ph === 'X' && ts >= 0 && dur >= 0),
    file.text,
  )

  const unknown = await service.request('GET', `/api/v1/runs/${id}/export?format=chrome`)
  assert.equal(unknown.status, 400)
  assert.match(unknown.text, /chrome_trace/)
})
