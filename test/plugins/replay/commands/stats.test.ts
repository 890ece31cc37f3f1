import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { main } from '../../../../presets/default/main.ts'
import { startGateway } from '../../../kit/gateway.ts'
import { fakeIo } from '../../../kit/io.ts'

it('replay stats prints a line for each group, and the total', async (context) => {
  const cwd = await mkdtemp(join(tmpdir(), 'guard-stats-'))
  const gateway = await startGateway()
  context.after(async () => {
    await gateway.close()
    await rm(cwd, { recursive: true, force: true })
  })
  const config = `gateway_key: ${gateway.key}\nserver: { port: ${new URL(gateway.url).port} }\nstorage: { backend: memory }\n`
  await writeFile(join(cwd, 'guard-config.yml'), config, { mode: 0o600 })
  const stats = async (...argv: readonly string[]) => {
    const io = fakeIo({ cwd, env: { OPENAI_API_KEY: 'sk-openai' } })
    const code = await main(['replay', 'stats', ...argv], io)
    return { code, out: io.outText(), err: io.errText() }
  }
  const start = BigInt(Date.now()) * 1_000_000n
  const call = (tool: string, took: bigint, status = 'ok') => ({
    name: 'tool.call',
    status,
    start_ns: String(start),
    end_ns: String(start + took * 1_000_000n),
    attributes: { 'gen_ai.tool.name': tool },
  })
  const spans = [call('grep', 20n), call('grep', 1_500n, 'error'), call('read', 7n)]
  await gateway.request('POST', '/api/v1/traces', { trace_id: 'measured', start_ns: String(start), spans })
  const { out } = await stats('--of', 'tools', '--by', 'name')
  const lines = out.split('\n').map((line) => line.trim().split(/ {2,}/).join('|'))
  assert.equal(lines[0], 'name|tools|failed|in|cached|out|cost|p50|p95|p99')
  assert.equal(lines[1], 'grep|2|1|0|0|0|0|20ms|1.5s|1.5s')
  assert.equal(lines[2], 'read|1|0|0|0|0|0|7ms|7ms|7ms')
  assert.equal(lines[3], 'total|3|1|0|0|0|0|20ms|1.5s|1.5s')
  assert.match((await stats('--of', 'commands')).err, /no such commands/)
  const wrong = await stats('--by', 'colour')
  assert.equal(wrong.code, 2)
  assert.match(wrong.err, /one of none, agent/)
})
