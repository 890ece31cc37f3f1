import assert from 'node:assert/strict'
import { test } from 'node:test'
import { importFile } from 'guard-gateway/lib/trace-file'
import { startService } from 'guard-gateway/test'
import { buildLog } from '../../examples/custom-import-format.ts'

const log = '1780000000000 1780000001000 compile --all\n1780000001000 1780000002000 test\n'

test('a build log is imported as a run of its steps', async () => {
  await using service = await startService({ plugins: [buildLog] })
  const type = { 'content-type': 'application/octet-stream' }
  const { status, json } = await service.request('POST', '/api/v1/runs/import', log, type)
  const { imported } = json as { imported: { trace_id: string; spans: number }[] }
  assert.deepEqual([status, imported.map(({ spans }) => spans)], [201, [2]])
  const { text } = await service.request('GET', `/api/v1/runs/${imported[0]?.trace_id}`)
  assert.ok(text.includes('"compile"') && !text.includes('--all'))
})

test('a step that ends before it starts is refused with its line', () => {
  const backwards = importFile('1780000000000 1780000001000 a\n1780000001000 1780000000000 b\n')
  assert.throws(() => buildLog.read(backwards), { message: /^Line 2: It ends before/ })
})
