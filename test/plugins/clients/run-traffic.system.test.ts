import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { startGateway } from 'guard-gateway/test'
import { client, recording } from './agent.ts'
import { KEY, workplace } from './kit.ts'

const NOTHING =
  /^guard: No request came through the gateway, so nothing of this run was guarded\.\nguard: .*"guard setup".*\/v1 \(OpenAI style\)/m

for (const tty of [true, false])
  test(`a run without requests prints a warning ${tty ? 'on a terminal' : 'without one'} and keeps its exit status`, async (context) => {
    const { cwd, command } = await workplace(context, { address: await recording(context, { sessions: [] }) }, tty)
    for (const name of ['claude', 'gemini']) {
      const { code, err } = await command('run', [], {}, [await client(cwd, name, 'process.exit(7)')])
      assert.equal(code, 7)
      assert.match(err, NOTHING)
    }
  })

test('sessions from before the run do not count', async (context) => {
  const before = { agent_id: null, last_seen_at: '2020-01-01T00:00:00Z' }
  const { cwd, command } = await workplace(context, { address: await recording(context, { sessions: [before] }) })
  assert.match((await command('run', [], {}, [await client(cwd, 'tool', '')])).err, NOTHING)
})

test('an unreachable gateway or one without records is reported as such', async (context) => {
  const broken = await workplace(context, { address: await recording(context, { status: 500 }) })
  const told = await broken.command('run', [], {}, [await client(broken.cwd, 'tool', '')])
  assert.equal(
    told.err,
    'guard: cannot tell whether a request came through, since the request to the gateway failed: it answered 500.\n',
  )
  const minimal = await workplace(context, { address: await recording(context, { plugins: ['http'] }) })
  const { err } = await minimal.command('run', [], {}, [await client(minimal.cwd, 'tool', '')])
  assert.equal(err, 'guard: cannot tell whether a request came through, since the gateway keeps no record.\n')
})

test('a command that does not start prints no warning about requests', async (context) => {
  const { cwd, command } = await workplace(context, { address: await recording(context, { sessions: [] }) })
  await assert.rejects(command('run', [], {}, [join(cwd, 'absent')]), { code: 'COMMAND_NOT_FOUND' })
})

test('a real gateway counts a labelled request, an unlabelled one, and none', async (context) => {
  const gateway = await startGateway({ upstream: 'http://127.0.0.1:1' })
  context.after(() => gateway.close())
  const { cwd, command } = await workplace(context, {
    address: gateway.url,
    gateway_key: gateway.key,
    running: async () => gateway.url,
  })
  const asks = (headers: string) => `
    const headers = Object.assign({ 'content-type': 'application/json', authorization: 'Bearer ' + process.env.GUARD_GATEWAY_KEY }, ${headers})
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })
    fetch(process.env.OPENAI_BASE_URL + '/chat/completions', { method: 'POST', headers, body }).then((answer) => answer.text())`
  const labels = `Object.fromEntries(process.env.OPENAI_CUSTOM_HEADERS.split('\\n').map((line) => line.split(': ')))`
  for (const headers of [labels, '{}']) {
    const { code, err } = await command('run', [], {}, [await client(cwd, 'tool', asks(headers))], {
      PATH: process.env.PATH,
    })
    assert.deepEqual([code, err], [0, ''], headers)
  }
  const { err } = await command('run', [], { project: 'none' }, [await client(cwd, 'codex', '')], {
    PATH: process.env.PATH,
  })
  assert.match(err, NOTHING)
  assert.ok(!err.includes(KEY))
})

test('sessions count by the gateway’s clock', async (context) => {
  for (const minutes of [-10, 10]) {
    const clock = minutes * 60_000
    const at = (ms: number) => [{ agent_id: null, last_seen_at: new Date(Date.now() + clock + ms).toISOString() }]
    const during = await workplace(context, { address: await recording(context, { clock, sessions: at(5_000) }) })
    assert.equal((await during.command('run', [], {}, [await client(during.cwd, 'tool', '')])).err, '', `${minutes}`)
    const before = await workplace(context, { address: await recording(context, { clock, sessions: at(-60_000) }) })
    assert.match((await before.command('run', [], {}, [await client(before.cwd, 'tool', '')])).err, NOTHING)
  }
})

test('requests count by their run id, also without records, and never for another run', async (context) => {
  const counted = (requests: number, more = {}) =>
    recording(context, { more: { requests, uptime_seconds: 60, ...more } })
  const other = await workplace(context, { address: await counted(0) })
  assert.match((await other.command('run', [], {}, [await client(other.cwd, 'claude', '')])).err, NOTHING)
  const unkept = await workplace(context, { address: await counted(1, { plugins: ['http'] }) })
  assert.equal((await unkept.command('run', [], {}, [await client(unkept.cwd, 'claude', '')])).err, '')
  // what counted before it was started anew is forgotten: the record tells
  const anew = await workplace(context, { address: await counted(0, { uptime_seconds: 0 }) })
  assert.equal((await anew.command('run', [], {}, [await client(anew.cwd, 'claude', '')])).err, '')
})

test('a gateway that stops answering does not block the command', { timeout: 60_000 }, async (context) => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  context.after(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const { cwd, command } = await workplace(context, { address, running: async () => address })
  const { err } = await command('run', [], {}, [await client(cwd, 'tool', '')])
  assert.match(err, /^guard: cannot tell whether a request came through, since the request to the gateway failed: /)
})
