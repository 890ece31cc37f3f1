import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'
import { startGateway } from '../../../kit/gateway.ts'

const example = join(import.meta.dirname, '../../../../examples/trace-an-agent.ts')

it('examples/trace-an-agent.ts records one run with a failed and a successful call', async (test) => {
  const gateway = await startGateway()
  test.after(() => gateway.close())
  const env = { ...process.env, GUARD_URL: gateway.url, GUARD_GATEWAY_KEY: gateway.key }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--conditions=guard-source', example], {
    env,
  })
  assert.equal(stderr, '')
  const [, lines, id] = /^counted (\d+) lines; the run is \/replay\/([0-9a-f]{32})\n$/.exec(stdout) ?? []
  assert.ok(Number(lines) > 20)
  const { json } = await gateway.request('GET', `/api/v1/runs/${id}`)
  const { run, spans } = json as {
    run: { status: string; project_id: string; tags: string[] }
    spans: { name: string; status: string; label: string | null; attributes: Record<string, unknown> }[]
  }
  assert.deepEqual([run.status, run.project_id, run.tags], ['ok', 'examples', ['example']])
  assert.deepEqual(
    spans.map(({ name, status }) => `${name} ${status}`),
    ['agent.run ok', 'plan ok', 'tool.call error', 'tool.call ok'],
  )
  assert.equal(spans[3]?.label, 'count_lines')
  assert.equal(spans[3]?.attributes['file.lines'], Number(lines))
})
