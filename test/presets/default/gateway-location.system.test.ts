import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { FakeProvider, fakeIo, startGateway } from 'guard-gateway/test'
import { main } from '../../../presets/default/main.ts'
import { refusingPort } from '../../kit/refusing-port.ts'

/** A gateway at a port that the system chose, none that its configuration says, and the command line beside it. */
const sentElsewhere = async (context: TestContext) => {
  const refusing = await refusingPort()
  const provider = await new FakeProvider().listen()
  const gateway = await startGateway({ backend: 'sqlite', upstream: provider.url })
  context.after(async () => {
    await gateway.close()
    await provider.close()
    await refusing[Symbol.asyncDispose]()
  })
  const text = `gateway_key: ${gateway.key}\nserver: { port: ${refusing.port} }\n`
  await writeFile(join(gateway.folder, 'guard-config.yml'), text, { mode: 0o600 })
  const command = async (...argv: readonly string[]) => {
    const io = fakeIo({ cwd: gateway.folder, env: { PATH: process.env.PATH } })
    const code = await main(argv, io)
    return { code, out: io.outText(), err: io.errText() }
  }
  return { gateway, command }
}

test('commands find the gateway of the database at its actual address', async (context) => {
  const { gateway, command } = await sentElsewhere(context)
  const body = { model: 'm', messages: [{ role: 'user', content: 'hello' }] }
  const ask = () => gateway.request('POST', '/v1/chat/completions', body, { 'x-guard-session-id': 'one' })
  assert.equal((await ask()).status, 200)
  const { code, err } = await command('sessions', 'pause', 'one')
  assert.equal(code, 0, err)
  assert.equal((await ask()).status, 409)
  assert.match((await command('doctor')).out, new RegExp(`a gateway \\S+ answers at ${gateway.url}`))
  const agent = `process.exit(process.env.ANTHROPIC_BASE_URL === '${gateway.url}' ? 0 : 1)`
  assert.equal((await command('run', '--', process.execPath, '-e', agent)).code, 0)
})
