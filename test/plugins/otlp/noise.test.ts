import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RunSummary } from '#lib/trace-file'
import { type Receiver, startReceiver } from './kit.ts'

const SPAN = {
  traceId: '',
  spanId: 'b'.repeat(16),
  startTimeUnixNano: '1782000000000000000',
  endTimeUnixNano: '1782000001000000000',
}
const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })

const body = (digit: string, more: object) => ({
  resourceSpans: [{ scopeSpans: [{ spans: [{ ...SPAN, name: 'rpc', traceId: digit.repeat(32), ...more }] }] }],
})

/** Digits of the listed runs. */
const listed = async ({ started }: Receiver, query: string): Promise<string> => {
  const { json } = await started.request('GET', `/api/v1/runs?${query}`)
  return (json as { readonly runs: readonly RunSummary[] }).runs.map(({ trace_id }) => trace_id[0]).join('')
}

describe('telemetry without any call', () => {
  it('is told from runs with a model, a tool or a failure, and is no noise once it has one', async () => {
    await using receiver = await startReceiver()
    await receiver.taken(body('1', {}))
    await receiver.taken(body('2', { attributes: [text('gen_ai.operation.name', 'chat')] }))
    await receiver.taken(
      body('3', { attributes: [text('gen_ai.tool.name', 'grep'), text('gen_ai.operation.name', 'execute_tool')] }),
    )
    await receiver.taken(body('4', { status: { code: 2 } }))
    await receiver.started.request('POST', '/api/v1/traces', { trace_id: '5', name: 'own' })
    assert.equal(await listed(receiver, 'noise=true'), '1')
    assert.equal(await listed(receiver, 'noise=false'), '5432')
    assert.equal(await listed(receiver, ''), '54321')
    await receiver.taken(body('1', { spanId: 'c'.repeat(16), attributes: [text('gen_ai.operation.name', 'chat')] }))
    assert.deepEqual([await listed(receiver, 'noise=true'), await listed(receiver, 'noise=false')], ['', '54321'])
  })

  it('is left out on the page, with a link to it, unless something particular is looked for', async () => {
    await using receiver = await startReceiver()
    await receiver.taken(body('1', { attributes: [text('peer', 'db')] }))
    await receiver.taken(body('2', { attributes: [text('gen_ai.operation.name', 'chat')] }))
    const page = async (query: string) => (await receiver.started.request('GET', `/replay?${query}`)).text
    const rows = async (query: string) => (await page(query)).match(/id="run-\d/g)?.join()
    assert.equal(await rows(''), 'id="run-2')
    assert.match(await page(''), /left out\. <a href="\/replay\?noise=show">/)
    assert.equal(await rows('noise=show'), 'id="run-2,id="run-1')
    assert.equal(await rows('attribute=peer%3Ddb'), 'id="run-1')
    assert.equal((await receiver.started.request('GET', '/replay?attribute=%3D')).status, 400)
  })
})
