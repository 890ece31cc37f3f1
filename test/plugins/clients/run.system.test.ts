import assert from 'node:assert/strict'
import { readdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { GuardError } from 'guard-gateway/core'
import { startGateway } from 'guard-gateway/test'
import { refusingPort } from '../../kit/refusing-port.ts'
import { client, recording, seen } from './agent.ts'
import { KEY, workplace } from './kit.ts'

const setUp = async (context: TestContext) => {
  const address = await recording(context)
  return { address, ...(await workplace(context, { address })) }
}

test('Claude Code gets settings as an argument before its own, without a key', async (context) => {
  const { address, cwd, command } = await setUp(context)
  const claude = await client(cwd, 'claude')
  const { code } = await command('run', [], { project: 'demo', session: 'ses_mine' }, [claude, '-p', 'fix it', '--x'])
  assert.equal(code, 0)
  const { args } = await seen(cwd)
  assert.equal(args[0], '--settings')
  assert.deepEqual(args.slice(2), ['-p', 'fix it', '--x'])
  const settings = JSON.parse(args[1] ?? '')
  assert.equal(settings.env.ANTHROPIC_BASE_URL, address)
  assert.match(
    settings.env.ANTHROPIC_CUSTOM_HEADERS,
    /^x-guard-project-id: demo\nx-guard-agent-id: claude-code\nx-guard-session-id: ses_mine\nx-guard-run-id: run_\w{26}$/,
  )
  assert.ok(!args.join(' ').includes(KEY))
})

test('Codex gets a provider from flags and its key from the environment', async (context) => {
  const { address, cwd, command } = await setUp(context)
  const own = { MINE: '1', GUARD_APPROVER_KEY: 'only-a-person' }
  await command('run', [], { project: 'demo', model: 'm' }, [await client(cwd, 'codex'), 'exec', 'hello'], own)
  const { args, env } = await seen(cwd)
  assert.equal(args[0], '-c')
  assert.match(args[1] ?? '', new RegExp(`^model_providers\\.guard=\\{ .*base_url = "${address}/v1"`))
  assert.deepEqual(args.slice(2), ['-c', 'model_provider="guard"', '-c', 'model="m"', 'exec', 'hello'])
  assert.equal(env.GUARD_GATEWAY_KEY, KEY)
  assert.deepEqual([env.MINE, env.GUARD_APPROVER_KEY], ['1', undefined])
})

test('OpenCode gets its configuration from the environment', async (context) => {
  const { address, cwd, command } = await setUp(context)
  await command('run', [], { project: 'demo', model: 'm' }, [await client(cwd, 'opencode'), 'run', 'hello'])
  const { args, env } = await seen(cwd)
  assert.deepEqual(args, ['run', 'hello'])
  const config = JSON.parse(env.OPENCODE_CONFIG_CONTENT ?? '')
  assert.equal(config.provider.guard.options.baseURL, `${address}/v1`)
  assert.equal(env.GUARD_GATEWAY_KEY, KEY)
})

test('any other command gets the variables of SDKs; --as selects a client', async (context) => {
  const { address, cwd, command } = await setUp(context)
  const tool = await client(cwd, 'my-agent')
  const own = { PATH: '/nowhere', OTHER: 'kept', OPENAI_CUSTOM_HEADERS: 'x-own: 1' }
  await command('run', [], { project: 'demo', session: 's 1' }, [tool, 'a'], own)
  const { args, env } = await seen(cwd)
  assert.deepEqual(args, ['a'])
  assert.equal(env.OPENAI_BASE_URL, `${address}/v1`)
  assert.equal(env.ANTHROPIC_BASE_URL, address)
  assert.deepEqual([env.OPENAI_API_KEY, env.ANTHROPIC_AUTH_TOKEN, env.OTHER], [KEY, KEY, 'kept'])
  const told = 'x-guard-project-id: demo\nx-guard-agent-id: sdks\nx-guard-session-id: s 1'
  const lines = [env.OPENAI_CUSTOM_HEADERS, env.ANTHROPIC_CUSTOM_HEADERS].map((text) =>
    text?.replace(/\nx-guard-run-id: run_\w+$/, ''),
  )
  assert.deepEqual(lines, [`x-own: 1\n${told}`, told])
  await command('run', [], { as: 'claude-code' }, [tool])
  assert.equal((await seen(cwd)).args[0], '--settings')
})

test('the project is the name in the nearest package.json, else the folder', async (context) => {
  const { cwd, command } = await setUp(context)
  const claude = await client(cwd, 'claude')
  await writeFile(join(cwd, 'package.json'), '{"name":"@acme/web shop"}')
  await command('run', [], {}, [claude])
  assert.match((await seen(cwd)).args[1] ?? '', /x-guard-project-id: acme-web-shop/)
})

test('the exit status is the child’s, or 128 plus the signal number', async (context) => {
  const { cwd, command } = await setUp(context)
  const leaves = await client(cwd, 'leaves', 'process.exit(7)')
  assert.equal((await command('run', [], {}, [leaves])).code, 7)
  const killed = await client(cwd, 'killed', "process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)")
  assert.equal((await command('run', [], {}, [killed])).code, 143)
})

test('no file remains, and the id of a new session is printed', async (context) => {
  const { cwd, command } = await setUp(context)
  const quiet = await client(cwd, 'quiet', '')
  const { err } = await command('run', [], { session: 'new' }, [quiet])
  assert.match(err, /^guard: session ses_[0-9a-z]{26}\n$/)
  assert.deepEqual(await readdir(cwd), ['bin'])
})

test('wrong use gives a one-line error', async (context) => {
  const { cwd, command } = await setUp(context)
  const refused = async (
    flags: Readonly<Record<string, unknown>>,
    rest: readonly string[],
    code: string,
    text: RegExp,
  ) =>
    assert.rejects(command('run', [], flags, rest), (error: GuardError) => {
      assert.equal(error.code, code)
      assert.match(error.message, text)
      return true
    })
  for (const none of [[], ['', '-p']]) await refused({}, none, 'USAGE', /needs a command after "--"/)
  await refused({ mode: 'strict' }, ['claude'], 'USAGE', /shadow or enforce/)
  await refused({ as: 'nosuch' }, ['claude'], 'USAGE', /no client "nosuch"; --as takes claude-code, codex, /)
  await refused({ session: 'a\nx-guard-key: b' }, ['claude'], 'USAGE', /--session takes 1 to 512 printable characters/)
  await refused({}, ['cursor'], 'USAGE', /Cursor cannot be started this way\. .*servers/)
  await refused({}, ['cn'], 'USAGE', /guard setup continue/)
  await refused({}, [join(cwd, 'absent')], 'COMMAND_NOT_FOUND', /no such command/)
})

test('--mode prints a message where it has no effect', async (context) => {
  const { cwd, command } = await setUp(context)
  const { err } = await command('run', [], { mode: 'enforce' }, [await client(cwd, 'claude')])
  assert.match(err, /allow_mode_header is off/)
  assert.match((await seen(cwd)).args[1] ?? '', /x-guard-mode: enforce/)
})

test('without a gateway no agent starts', async (context) => {
  await using refusing = await refusingPort()
  const { cwd, command } = await workplace(context, { address: `http://127.0.0.1:${refusing.port}` })
  const claude = await client(cwd, 'claude')
  await assert.rejects(command('run', [], {}, [claude]), (error: GuardError) => {
    assert.equal(error.code, 'GATEWAY_NOT_RUNNING')
    assert.match(error.message, /guard gateway run/)
    return true
  })
  assert.deepEqual(await readdir(cwd), ['bin'])
})

test('a rejected key is reported before the agent starts, also with --start', async (context) => {
  const gateway = await startGateway()
  context.after(() => gateway.close())
  const { cwd, command } = await workplace(context, { address: gateway.url })
  const claude = await client(cwd, 'claude')
  for (const flags of [{}, { start: true }])
    await assert.rejects(command('run', [], flags, [claude]), (error: GuardError) => {
      assert.equal(error.code, 'UNAUTHORIZED')
      assert.ok(error.message.includes(`does not accept the gateway_key of ${join(cwd, 'guard-config.yml')}`))
      return true
    })
  assert.deepEqual(await readdir(cwd), ['bin'])
})

test('a temporary gateway ignores Ctrl-C and stops when the command ends', async (context) => {
  const says = `let leads = true; try { process.kill(-process.pid, 0) } catch { leads = false }
    const [flag = ''] = process.execArgv
    const message = leads && process.connected ? 'alone ' + flag : 'with the agent.'
    console.error(JSON.stringify({ error: { code: 'PORT_TAKEN', message } })); process.exit(1)`
  await using refusing = await refusingPort()
  const { cwd, command } = await workplace(context, {
    address: `http://127.0.0.1:${refusing.port}`,
    guard: [process.execPath, '-e', says, '--'],
    gateway_flags: ['--max-semi-space-size=16'],
  })
  const alone = /did not come up: alone --max-semi-space-size=16/
  await assert.rejects(command('run', [], { start: true }, [await client(cwd, 'claude')]), alone)
})

test('the last line on a terminal sums up the sessions of the run', async (context) => {
  const paths: string[] = []
  const figures = {
    id: 'ses_1',
    paused: false,
    requests: 3,
    flagged: 1,
    blocked: 0,
    total_tokens: 1_500,
    cost_micro: 21_000,
  }
  const sessions = [{ ...figures, last_seen_at: '2999-01-01T00:00:00Z' }]
  const server = createServer(({ url = '' }, response) => {
    paths.push(url)
    response.end(JSON.stringify({ plugins: ['recorder'], sessions }))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  context.after(() => server.close())
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { cwd, command } = await workplace(context, { address }, true)
  const quiet = await client(cwd, 'quiet', '')
  const { err } = await command('run', [], { agent: 'bob' }, [quiet])
  assert.equal(
    err,
    `guard: 3 requests, 1 flagged, 0 blocked, 1.5k tokens, cost 0.021  ${address}/replay?session_id=ses_1\n`,
  )
  await command('run', [], { session: 'mine too' }, [quiet])
  assert.deepEqual(
    paths.filter((path) => path.startsWith('/api/sessions')),
    [
      `/api/sessions?limit=200&project_id=${basename(cwd)}&agent_id=bob`,
      '/api/sessions?limit=200&external_id=mine+too',
    ],
  )
})

test('a temporary gateway that does not start gives a one-line error', async (context) => {
  const says = `console.error('{"level":"info"}\\n' + JSON.stringify({ error: { code: 'PORT_TAKEN', message: 'The port is taken.' } })); process.exit(1)`
  await using refusing = await refusingPort()
  const { cwd, command } = await workplace(context, {
    address: `http://127.0.0.1:${refusing.port}`,
    guard: [process.execPath, '-e', says, '--'],
  })
  await assert.rejects(command('run', [], { start: true }, [await client(cwd, 'claude')]), {
    code: 'GATEWAY_NOT_RUNNING',
    message: 'The gateway did not come up: The port is taken. (PORT_TAKEN)',
  })
  assert.deepEqual(await readdir(cwd), ['bin'])
})

test('an agent reaches the gateway without the proxy', async (context) => {
  const { cwd, command } = await setUp(context)
  const claude = await client(cwd, 'claude')
  const proxied = { HTTPS_PROXY: 'http://proxy.example:3128', NO_PROXY: 'inside.example' }
  const { code } = await command('run', [], {}, [claude], proxied)
  assert.equal(code, 0)
  const { env } = await seen(cwd)
  assert.equal(env.HTTPS_PROXY, proxied.HTTPS_PROXY)
  for (const name of ['NO_PROXY', 'no_proxy'])
    assert.deepEqual(env[name]?.split(','), ['inside.example', '127.0.0.1', 'localhost', '::1', '[::1]'])
})
