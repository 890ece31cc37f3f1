import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TreeSpan } from '#lib/trace'
import type { RunSummary } from '#lib/trace-file'
import { startSocketService, until } from './kit.ts'

test('tool calls of a chain over a WebSocket end with the message that holds their results', async () => {
  await using service = await startSocketService()
  const client = await service.connect({ 'x-guard-session-id': 'tools' })
  const outputs = [
    'Exit code: 0\nWall time: 0.1 seconds\nOutput:\nok',
    'Exit code: 1\nWall time: 0.1 seconds\nOutput:\nno',
  ]
  let [input, before]: [unknown, object] = ['Look', {}]
  for (const output of [...outputs, 'not sent']) {
    service.provider.script({ call: { name: 'shell', arguments: JSON.stringify({ command: output }) } })
    client.create(input, before)
    const { response } = (await client.end()) as unknown as { readonly response: { readonly id: string } }
    before = { previous_response_id: response.id }
    input = [{ type: 'function_call_output', call_id: `call_${response.id}`, output }]
  }
  await until(async () => (await service.calls()).length === 3)
  const { runs } = (await service.gateway.request('GET', '/api/v1/runs')).json as {
    readonly runs: readonly RunSummary[]
  }
  const { spans } = (await service.gateway.request('GET', `/api/v1/runs/${runs[0]?.trace_id}`)).json as {
    readonly spans: readonly TreeSpan[]
  }
  const starts = spans.filter(({ kind }) => kind === 'model').map(({ start_ns }) => start_ns)
  assert.deepEqual(
    spans.filter(({ kind }) => kind === 'tool').map(({ status, end_ns }) => [status, end_ns]),
    [
      ['ok', starts[1]],
      ['error', starts[2]],
      ['unset', null],
    ],
  )
})
