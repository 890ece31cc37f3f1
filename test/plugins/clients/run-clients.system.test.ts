import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { client, recording, seen } from './agent.ts'
import { KEY, workplace } from './kit.ts'

/** Writes down how it was started, with the texts of the run's files. */
const script = `
const fs = require('fs'), path = require('path')
const said = [...process.argv.slice(2), ...Object.values(process.env)].join('\\n')
const folder = /\\S*guard-run_\\w+/.exec(said)?.[0]
const files = {}, modes = []
for (const entry of folder ? fs.readdirSync(folder, { recursive: true, withFileTypes: true }) : []) {
  const file = path.join(entry.parentPath, entry.name)
  if (entry.isDirectory()) continue
  files[path.relative(folder, file)] = fs.readFileSync(file, 'utf8')
  if (entry.isFile()) modes.push(fs.statSync(file).mode & 0o777)
}
if (folder) modes.push(fs.statSync(folder).mode & 0o777)
fs.writeFileSync('seen.json', JSON.stringify({ args: process.argv.slice(2), env: process.env, folder, files, modes }))`

interface Started {
  readonly args: string[]
  readonly env: Record<string, string>
  readonly folder?: string
  readonly files: Record<string, string>
  readonly modes: number[]
}

const every = ['chat_completions', 'responses', 'messages', 'gemini']
const all = [{ styles: every, models: ['*'], auth: 'auto' }]

/** Starts a client by `guard run`. */
const started = async (
  context: TestContext,
  name: string,
  { upstreams = all, env = {}, flags = { project: 'demo', model: 'm-1' } }: Setting = {},
): Promise<Started & { readonly address: string; readonly err: string }> => {
  const address = await recording(context)
  const { cwd, command } = await workplace(context, { address, upstreams })
  const home = join(cwd, 'home')
  for (const [path, text] of Object.entries(env.files ?? {})) {
    await mkdir(dirname(join(home, path)), { recursive: true })
    await writeFile(join(home, path), text)
  }
  await mkdir(home, { recursive: true })
  const before = await readdir(home, { recursive: true })
  const { err } = await command('run', [], flags, [await client(cwd, name, script)], { ...env.variables, HOME: home })
  const one = (await seen(cwd)) as Started
  assert.deepEqual(await readdir(home, { recursive: true }), before, 'its home is as it was')
  if (one.folder !== undefined) {
    assert.ok(!existsSync(one.folder), 'nothing is left behind')
    for (const mode of one.modes) assert.equal(mode & 0o077, 0)
  }
  assert.ok(!one.args.join(' ').includes(KEY), 'no argument holds the key')
  return { ...one, address, err }
}

interface Setting {
  readonly upstreams?: typeof all
  readonly env?: { readonly variables?: Record<string, string>; readonly files?: Record<string, string> }
  readonly flags?: Record<string, unknown>
}

const speaking = (...styles: string[]) => [{ styles, models: ['*'], auth: 'auto' }]
const labels = (id: string) =>
  new RegExp(`"x-guard-project-id":"demo","x-guard-agent-id":"${id}","x-guard-run-id":"run_`)

test('Copilot CLI gets a provider of its own, by the style that an upstream has for the model', async (context) => {
  const variables = { COPILOT_PROVIDER_BEARER_TOKEN: 'theirs', COPILOT_PROVIDER_HEADERS: 'x-own: 1' }
  const { env, address, err } = await started(context, 'copilot', { env: { variables } })
  assert.deepEqual(
    [env.COPILOT_PROVIDER_BASE_URL, env.COPILOT_PROVIDER_TYPE, env.COPILOT_PROVIDER_WIRE_API, env.COPILOT_MODEL],
    [`${address}/v1`, 'openai', 'completions', 'm-1'],
  )
  assert.deepEqual([env.COPILOT_PROVIDER_API_KEY, env.COPILOT_PROVIDER_BEARER_TOKEN], [KEY, ''])
  assert.match(
    env.COPILOT_PROVIDER_HEADERS ?? '',
    /^x-own: 1\nx-guard-project-id: demo\nx-guard-agent-id: copilot\nx-guard-run-id: run_/,
  )
  assert.match(err, /^guard: COPILOT_PROVIDER_BEARER_TOKEN is off in this run/)
  const { env: claude, address: at } = await started(context, 'copilot', { upstreams: speaking('messages') })
  assert.deepEqual([claude.COPILOT_PROVIDER_BASE_URL, claude.COPILOT_PROVIDER_TYPE], [at, 'anthropic'])
  await assert.rejects(started(context, 'copilot', { flags: {} }), /^GuardError: Copilot CLI has to be told a model: /)
  const own = await started(context, 'copilot', { flags: {}, env: { variables: { COPILOT_MODEL: 'm-2' } } })
  assert.deepEqual([own.env.COPILOT_MODEL, own.env.COPILOT_PROVIDER_TYPE], ['m-2', 'openai'])
  const { env: responses } = await started(context, 'copilot', { upstreams: speaking('responses') })
  assert.equal(responses.COPILOT_PROVIDER_WIRE_API, 'responses')
})

test('Qwen Code gets settings before those of the user, with a header for its session', async (context) => {
  const { env, files, folder, address } = await started(context, 'qwen')
  assert.equal(env.QWEN_CODE_SYSTEM_SETTINGS_PATH, join(folder ?? '', 'qwen-code/settings.json'))
  assert.equal(env.GUARD_GATEWAY_KEY, KEY)
  const text = files['qwen-code/settings.json'] ?? ''
  const settings = JSON.parse(text.replace(/^\/\/.*\n/, ''))
  const [provider] = settings.modelProviders.openai
  assert.deepEqual(
    [settings.security.auth.selectedType, settings.model.name, provider.id, provider.baseUrl, provider.envKey],
    ['openai', 'm-1', 'm-1', `${address}/v1`, 'GUARD_GATEWAY_KEY'],
  )
  assert.equal(provider.generationConfig.customHeaders['x-session-id'], '$session_id')
  assert.equal(settings.outboundCorrelation.allowDynamicHeaderValues, true)
  assert.match(text.replaceAll(/\s/g, ''), labels('qwen-code'))
  const { files: claude } = await started(context, 'qwen', { upstreams: speaking('messages') })
  assert.match(claude['qwen-code/settings.json'] ?? '', /"User-Agent": "QwenCode\/guard"/)
  assert.ok(!text.includes(KEY))
})

test('Qwen Code is pointed by flags where an administrator has settings, and has to be told a model', async (context) => {
  const model = await started(context, 'qwen', {
    env: { variables: { QWEN_CODE_SYSTEM_SETTINGS_PATH: '/admin.json' } },
  })
  assert.deepEqual(model.args, ['--auth-type', 'openai', '--model', 'm-1'])
  assert.deepEqual(
    [model.env.QWEN_CODE_SYSTEM_SETTINGS_PATH, model.env.OPENAI_BASE_URL, model.env.OPENAI_API_KEY],
    ['/admin.json', `${model.address}/v1`, KEY],
  )
  await assert.rejects(started(context, 'qwen', { flags: {} }), /^GuardError: Qwen Code has to be told a model: /)
})

test('Gemini CLI gets a home for the run: its own settings with another login, and links to the rest', async (context) => {
  const own =
    '{ // mine\n "ui": { "theme": "http://x" }, "security": { "auth": { "selectedType": "oauth-personal" } } }'
  const files = { '.gemini/settings.json': own, '.gemini/GEMINI.md': 'Be brief.' }
  const run = await started(context, 'gemini', { env: { files } })
  assert.equal(run.env.GEMINI_CLI_HOME, run.folder)
  const settings = JSON.parse(run.files['.gemini/settings.json'] ?? '')
  assert.deepEqual(settings, { ui: { theme: 'http://x' }, security: { auth: { selectedType: 'gemini-api-key' } } })
  assert.equal(run.files['.gemini/GEMINI.md'], 'Be brief.')
  const chosen = join(run.env.HOME ?? '', '../chosen')
  await mkdir(join(chosen, '.gemini'), { recursive: true })
  await writeFile(join(chosen, '.gemini/settings.json'), '{"tools":{"sandbox":true}}')
  const elsewhere = await started(context, 'gemini', { env: { variables: { GEMINI_CLI_HOME: chosen } } })
  assert.deepEqual(JSON.parse(elsewhere.files['.gemini/settings.json'] ?? '').tools, { sandbox: true })
  const bare = await started(context, 'gemini')
  assert.deepEqual(JSON.parse(bare.files['.gemini/settings.json'] ?? ''), {
    security: { auth: { selectedType: 'gemini-api-key' } },
  })
})

test('Kilo gets its configuration in a variable, and one model for everything', async (context) => {
  const { env, address } = await started(context, 'kilo')
  const { model, small_model, provider } = JSON.parse(env.KILO_CONFIG_CONTENT ?? '')
  assert.deepEqual([model, small_model, provider.guard.options.baseURL], ['guard/m-1', 'guard/m-1', `${address}/v1`])
  assert.match(JSON.stringify(provider.guard.options.headers), labels('kilo'))
  const { env: claude } = await started(context, 'kilo', { upstreams: speaking('messages') })
  assert.equal(JSON.parse(claude.KILO_CONFIG_CONTENT ?? '').provider.guard.npm, '@ai-sdk/anthropic')
})

const extensionOf = async (text: string): Promise<Record<string, Record<string, unknown>>> => {
  const registered: Record<string, Record<string, unknown>> = {}
  const { default: extension } = await import(`data:text/javascript,${encodeURIComponent(text)}`)
  extension({
    registerProvider: (name: string, one: Record<string, unknown>) => Object.assign(registered, { [name]: one }),
  })
  return registered
}

test('pi loads an extension with a provider for the model, or with those that it knows', async (context) => {
  const run = await started(context, 'pi')
  assert.deepEqual(run.args, ['-e', join(run.folder ?? '', 'pi/guard.js'), '--provider', 'guard', '--model', 'm-1'])
  const { guard } = await extensionOf(run.files['pi/guard.js'] ?? '')
  assert.deepEqual(
    [guard?.baseUrl, guard?.api, guard?.apiKey],
    [`${run.address}/v1`, 'openai-completions', 'GUARD_GATEWAY_KEY'],
  )
  assert.match(JSON.stringify(guard), /"sendSessionAffinityHeaders":true/)
  // it sends each without the blank that keeps it from being looked up
  assert.match(JSON.stringify(guard?.headers).replaceAll('" ', '"'), labels('pi'))
  const login = [{ styles: ['messages'], models: ['*'], auth: 'passthrough' }, ...speaking('responses')]
  const variables = { ANTHROPIC_OAUTH_TOKEN: 'mine', OPENAI_API_KEY: 'sk-of-the-user' }
  const known = await started(context, 'pi', { upstreams: login, env: { variables }, flags: { project: 'demo' } })
  const providers = await extensionOf(known.files['pi/guard.js'] ?? '')
  assert.deepEqual(Object.keys(providers), ['anthropic', 'openai', 'google'])
  assert.equal(Reflect.get(providers.anthropic?.headers ?? {}, 'x-guard-key'), 'GUARD_GATEWAY_KEY')
  assert.deepEqual([known.env.ANTHROPIC_OAUTH_TOKEN, known.env.OPENAI_API_KEY], ['mine', KEY])
})

test('Cline gets its providers in a file, and has to be told a model', async (context) => {
  const run = await started(context, 'cline')
  assert.equal(run.env.CLINE_PROVIDER_SETTINGS_PATH, join(run.folder ?? '', 'cline/providers.json'))
  assert.deepEqual(run.args, ['-P', 'openai-compatible', '-m', 'm-1'])
  const { settings } = JSON.parse(run.files['cline/providers.json'] ?? '').providers['openai-compatible']
  assert.deepEqual([settings.baseUrl, settings.model, settings.apiKey], [`${run.address}/v1`, 'm-1', KEY])
  assert.match(JSON.stringify(settings.headers), labels('cline'))
  await assert.rejects(started(context, 'cline', { flags: {} }), {
    code: 'USAGE',
    message: /^Cline has to be told a model: guard run --model <id> -- .*cline$/,
  })
})

test('Goose is told provider, host and headers in its own words', async (context) => {
  const { env, address } = await started(context, 'goose')
  assert.deepEqual(
    [env.GOOSE_PROVIDER, env.GOOSE_MODEL, env.GOOSE_PLANNER_MODEL, env.OPENAI_HOST, env.OPENAI_API_KEY],
    ['openai', 'm-1', 'm-1', address, KEY],
  )
  assert.match(
    env.OPENAI_CUSTOM_HEADERS ?? '',
    /^x-guard-project-id=demo,x-guard-agent-id=goose,x-guard-run-id=run_\w+$/,
  )
  const { env: claude, address: at } = await started(context, 'goose', { upstreams: speaking('messages') })
  assert.deepEqual([claude.GOOSE_PROVIDER, claude.ANTHROPIC_HOST], ['anthropic', at])
})

test('Crush reads the settings of the user first, and then those of the run', async (context) => {
  const { env, files, folder, address } = await started(context, 'crush')
  assert.equal(env.CRUSH_GLOBAL_CONFIG, join(folder ?? '', 'crush'))
  const lines = (files['crush/crushrc'] ?? '').split('\n')
  assert.match(lines[2] ?? '', /^if \[ -f "\$mine" \]; then source "\$mine"; fi$/)
  assert.ok(lines.some((line) => line.startsWith(`provider add guard --type openai-compat --base-url ${address}/v1 `)))
  for (const slot of ['large', 'small']) assert.ok(lines.includes(`model ${slot} guard/m-1`))
  assert.ok(!lines.join().includes(KEY))
})

test('a client whose style no upstream has is told so, with the way out', async (context) => {
  const { err } = await started(context, 'gemini', { upstreams: speaking('messages') })
  assert.match(
    err,
    /^guard: Gemini CLI speaks gemini, and no upstream has that for m-1: add it to the styles of one in guard-config\.yml, see "guard doctor"$/m,
  )
})

test('Zed is refused with the way out', async (context) => {
  await assert.rejects(started(context, 'zed'), {
    code: 'USAGE',
    message: /^Zed cannot be started this way\. .* Use "guard setup zed --model <id>"\.$/,
  })
})
