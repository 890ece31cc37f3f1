import assert from 'node:assert/strict'
import { test } from 'node:test'
import { client, recording, seen } from './agent.ts'
import { KEY, workplace } from './kit.ts'

const PROVIDER = 'provider-key-0123456789'
const passthrough = (styles: readonly string[], models = ['*']) => ({ styles, models, auth: 'passthrough' })
const keyed = (styles: readonly string[], models = ['*']) => ({ styles, models, auth: 'auto' })

for (const name of ['claude', 'codex', 'opencode', 'aider', 'my-agent'])
  test(`${name} gets no provider or approver key, and a message names the withheld keys`, async (context) => {
    const address = await recording(context)
    const { cwd, command } = await workplace(context, { address }, false, [KEY, PROVIDER])
    const own = {
      MINE: '1',
      MY_PROVIDER: PROVIDER,
      GUARD_APPROVER_KEY: 'only-a-person',
      GEMINI_API_KEY: 'sk-of-the-user',
    }
    const { err } = await command('run', [], { model: 'm' }, [await client(cwd, name)], own)
    const { args, env } = await seen(cwd)
    assert.equal(env.MINE, '1')
    for (const kept of ['MY_PROVIDER', 'GUARD_APPROVER_KEY', 'GEMINI_API_KEY']) assert.equal(env[kept], undefined, kept)
    assert.ok(!JSON.stringify([args, env]).includes(PROVIDER))
    assert.ok(!args.join(' ').includes(KEY))
    assert.equal(
      err,
      'guard: kept from its environment: MY_PROVIDER, GUARD_APPROVER_KEY, GEMINI_API_KEY; "guard run --env MY_PROVIDER …" gives one back\n',
    )
    const again = await command(
      'run',
      [],
      { model: 'm', env: ['MY_PROVIDER', 'GEMINI_API_KEY'] },
      [await client(cwd, name)],
      own,
    )
    const given = (await seen(cwd)).env
    assert.deepEqual(
      [given.MY_PROVIDER, given.GEMINI_API_KEY, given.GUARD_APPROVER_KEY],
      [PROVIDER, 'sk-of-the-user', undefined],
    )
    assert.match(again.err, /^guard: kept from its environment: GUARD_APPROVER_KEY; /)
  })

test('--env passes a variable with its own value, even where the gateway key would go', async (context) => {
  const { cwd, command } = await workplace(context, { address: await recording(context) })
  const own = { OPENAI_API_KEY: 'sk-of-the-user' }
  const plain = await command('run', [], {}, [await client(cwd, 'tool')], own)
  assert.deepEqual([(await seen(cwd)).env.OPENAI_API_KEY, plain.err], [KEY, ''])
  await command('run', [], { env: 'OPENAI_API_KEY' }, [await client(cwd, 'tool')], own)
  assert.equal((await seen(cwd)).env.OPENAI_API_KEY, 'sk-of-the-user')
})

test('Claude Code reads the key from its environment', async (context) => {
  const { cwd, command } = await workplace(context, { address: await recording(context) })
  await command('run', [], {}, [await client(cwd, 'claude')], { CLAUDE_CODE_OAUTH_TOKEN: 'oauth-of-the-user' })
  const { args, env } = await seen(cwd)
  const { apiKeyHelper, env: set } = JSON.parse(args[1] ?? '')
  assert.equal(apiKeyHelper, `${process.execPath} -p process.env.GUARD_GATEWAY_KEY`)
  assert.deepEqual([env.GUARD_GATEWAY_KEY, env.CLAUDE_CODE_OAUTH_TOKEN, set.ANTHROPIC_AUTH_TOKEN], [KEY, undefined, ''])
})

test('Claude Code keeps its own login for an upstream that passes it on; no argument contains the key', async (context) => {
  const upstreams = [passthrough(['messages'])]
  const { cwd, command } = await workplace(context, { address: await recording(context), upstreams })
  const own = {
    CLAUDE_CODE_OAUTH_TOKEN: 'oauth-of-the-user',
    ANTHROPIC_CUSTOM_HEADERS: 'x-own: 1',
    OPENAI_API_KEY: 'sk-other',
  }
  await command('run', [], { project: 'demo' }, [await client(cwd, 'claude')], own)
  const { args, env } = await seen(cwd)
  const { apiKeyHelper, env: set } = JSON.parse(args[1] ?? '')
  assert.deepEqual(
    [apiKeyHelper, set.ANTHROPIC_AUTH_TOKEN, set.ANTHROPIC_CUSTOM_HEADERS],
    [undefined, undefined, undefined],
  )
  assert.deepEqual(
    [env.CLAUDE_CODE_OAUTH_TOKEN, env.OPENAI_API_KEY, env.GUARD_GATEWAY_KEY],
    ['oauth-of-the-user', undefined, undefined],
  )
  assert.equal(
    env.ANTHROPIC_CUSTOM_HEADERS?.replace(/\nx-guard-run-id: run_\w+/, ''),
    `x-own: 1\nx-guard-project-id: demo\nx-guard-agent-id: claude-code\nx-guard-key: ${KEY}`,
  )
  assert.ok(!args.join(' ').includes(KEY))
})

test('Codex and OpenCode keep their own logins', async (context) => {
  const upstreams = [passthrough(['responses', 'messages', 'chat_completions'])]
  const { cwd, command } = await workplace(context, { address: await recording(context), upstreams })
  await command('run', [], {}, [await client(cwd, 'codex')], {
    OPENAI_API_KEY: 'sk-of-the-user',
    ANTHROPIC_API_KEY: 'sk-a',
  })
  const codex = await seen(cwd)
  assert.match(
    codex.args[1] ?? '',
    /requires_openai_auth = true, env_http_headers = \{ "x-guard-key" = "GUARD_GATEWAY_KEY" \}/,
  )
  assert.doesNotMatch(codex.args[1] ?? '', /env_key/)
  assert.deepEqual(
    [codex.env.GUARD_GATEWAY_KEY, codex.env.OPENAI_API_KEY, codex.env.ANTHROPIC_API_KEY],
    [KEY, 'sk-of-the-user', undefined],
  )
  await command('run', [], {}, [await client(cwd, 'opencode')], {
    OPENAI_API_KEY: 'sk-of-the-user',
    ANTHROPIC_API_KEY: 'sk-a',
  })
  const opencode = await seen(cwd)
  const { provider } = JSON.parse(opencode.env.OPENCODE_CONFIG_CONTENT ?? '')
  for (const { options } of [provider.anthropic, provider.openai])
    assert.deepEqual([options.apiKey, options.headers['x-guard-key']], [undefined, '{env:GUARD_GATEWAY_KEY}'])
  assert.deepEqual([opencode.env.OPENAI_API_KEY, opencode.env.ANTHROPIC_API_KEY], ['sk-of-the-user', 'sk-a'])
})

test('the model decides among several upstreams; without a model one passthrough upstream of the style is enough', async (context) => {
  const upstreams = [
    keyed(['messages'], ['claude-haiku-*']),
    passthrough(['messages'], ['claude-*']),
    keyed(['responses']),
  ]
  const { cwd, command } = await workplace(context, { address: await recording(context), upstreams })
  const helps = async (name: string, flags: object): Promise<boolean> => {
    await command('run', [], { ...flags }, [await client(cwd, name)])
    return /apiKeyHelper|env_key/.test((await seen(cwd)).args.join(' '))
  }
  assert.equal(await helps('claude', {}), false)
  assert.equal(await helps('claude', { model: 'claude-opus-5-5' }), false)
  assert.equal(await helps('claude', { model: 'claude-haiku-5' }), true)
  assert.equal(await helps('claude', { model: 'other' }), true)
  assert.equal(await helps('codex', {}), true)
})

test('an SDK keeps the user’s login and sends the key in a header; without a login it still starts', async (context) => {
  const upstreams = [passthrough(['messages']), keyed(['chat_completions', 'responses'])]
  const { cwd, command } = await workplace(context, { address: await recording(context), upstreams })
  const tool = await client(cwd, 'tool')
  await command('run', [], {}, [tool], { ANTHROPIC_API_KEY: 'sk-a', OPENAI_API_KEY: 'sk-o' })
  const { env } = await seen(cwd)
  assert.deepEqual([env.ANTHROPIC_API_KEY, env.ANTHROPIC_AUTH_TOKEN, env.OPENAI_API_KEY], ['sk-a', undefined, KEY])
  assert.match(env.ANTHROPIC_CUSTOM_HEADERS ?? '', new RegExp(`^x-guard-key: ${KEY}$`, 'm'))
  assert.doesNotMatch(env.OPENAI_CUSTOM_HEADERS ?? '', /x-guard-key/)
  await command('run', [], {}, [tool], {})
  assert.equal((await seen(cwd)).env.ANTHROPIC_AUTH_TOKEN, KEY)
})

test('a nested run sends its own label headers once and keeps the user’s headers', async (context) => {
  const { cwd, command } = await workplace(context, { address: await recording(context) })
  const tool = await client(cwd, 'tool')
  await command('run', [], { project: 'outer' }, [tool], { OPENAI_CUSTOM_HEADERS: 'x-own: 1' })
  const { env } = await seen(cwd)
  await command('run', [], { project: 'inner' }, [tool], env)
  const lines = (await seen(cwd)).env.OPENAI_CUSTOM_HEADERS?.split('\n') ?? []
  const names = lines.map((line) => line.split(':', 1)[0])
  assert.deepEqual(names, ['x-own', 'x-guard-project-id', 'x-guard-agent-id', 'x-guard-run-id'])
  assert.equal(lines[1], 'x-guard-project-id: inner')
})

test('variables that bypass the gateway are unset, and a message says so', async (context) => {
  const { cwd, command } = await workplace(context, { address: await recording(context) })
  const { err } = await command('run', [], {}, [await client(cwd, 'claude')], { CLAUDE_CODE_USE_BEDROCK: '1' })
  assert.equal(
    err,
    'guard: CLAUDE_CODE_USE_BEDROCK is off in this run: with it, requests would go around the gateway\n',
  )
  const { env } = JSON.parse((await seen(cwd)).args[1] ?? '')
  assert.deepEqual([env.CLAUDE_CODE_USE_BEDROCK, env.CLAUDE_CODE_USE_VERTEX, env.CLAUDE_CODE_USE_FOUNDRY], ['', '', ''])
})

test('an unknown name for --env gives a message', async (context) => {
  const { cwd, command } = await workplace(context, { address: await recording(context) })
  const { err } = await command('run', [], { env: ['MINE', 'MIEN'] }, [await client(cwd, 'tool')], { MINE: '1' })
  assert.equal(err, 'guard: --env gives nothing for MIEN: not in this environment\n')
  const valued = command('run', [], { env: 'OPENAI_API_KEY=sk-of-the-user' }, [await client(cwd, 'tool')])
  await assert.rejects(
    valued,
    ({ code, message }) => code === 'USAGE' && /OPENAI_API_KEY=…/.test(message) && !/sk-of/.test(message),
  )
})

test('Gemini CLI finds the gateway, the key and its labels in its environment, and no other way to log in', async (context) => {
  const address = await recording(context)
  const { cwd, command } = await workplace(context, { address })
  const own = { GOOGLE_GENAI_USE_VERTEXAI: 'true', GOOGLE_API_KEY: 'theirs' }
  await command('run', [], { project: 'demo', model: 'm' }, [await client(cwd, 'gemini'), '-p', 'hello'], own)
  const { args, env } = await seen(cwd)
  assert.deepEqual(args, ['--model', 'm', '-p', 'hello'])
  assert.deepEqual([env.GOOGLE_GEMINI_BASE_URL, env.GEMINI_API_KEY], [address, KEY])
  assert.match(
    env.GEMINI_CLI_CUSTOM_HEADERS ?? '',
    /^x-guard-project-id: demo, x-guard-agent-id: gemini(?:, [\w-]+: [\w-]+)*$/,
  )
  assert.deepEqual([env.GOOGLE_GENAI_USE_VERTEXAI, env.GOOGLE_API_KEY], ['', undefined])
})
