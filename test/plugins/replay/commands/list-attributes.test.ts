import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { main } from '../../../../presets/default/main.ts'
import { startGateway } from '../../../kit/gateway.ts'
import { fakeIo } from '../../../kit/io.ts'

it('replay list takes several tests of attributes, and says what is wrong with one', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'guard-attributes-'))
  const gateway = await startGateway()
  after(async () => {
    await gateway.close()
    await rm(cwd, { recursive: true, force: true })
  })
  const config = `gateway_key: ${gateway.key}\nserver: { port: ${new URL(gateway.url).port} }\nstorage: { backend: memory }\n`
  await writeFile(join(cwd, 'guard-config.yml'), config, { mode: 0o600 })
  const list = async (...tests: readonly string[]) => {
    const io = fakeIo({ cwd, env: { OPENAI_API_KEY: 'sk-openai' } })
    const code = await main(['replay', 'list', ...tests.flatMap((test) => ['--attribute', test])], io)
    return { code, out: io.outText(), err: io.errText() }
  }
  const spans = [{ name: 'step', attributes: { size: 12.5, state: 'open' } }]
  await gateway.request('POST', '/api/v1/traces', { trace_id: 'attributed', spans })
  const found = await list('size>12', 'state=open')
  assert.match(found.out, /attributed/, found.err)
  assert.match((await list('size>12', 'state=shut')).err, /no such runs/)
  const wrong = await list('size>big')
  assert.equal(wrong.code, 2)
  assert.match(wrong.err, /"attribute" must be a number after >/)
})
