import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { GuardError } from 'guard-gateway/core'
import { parse } from 'yaml'
import { writeProfile } from '../../../plugins/clients/write-profile.ts'
import { sessionErrors } from '../../../plugins/sessions/error-codes.ts'
import { KEY, workplace } from './kit.ts'

const all = ['aider/model.settings.yml', 'claude-code/settings.json', 'cline/README.md', 'codex/guard.config.toml']
const more = [
  'continue/config.yaml',
  'copilot/env',
  'crush/crushrc',
  'env',
  'gemini/.gemini/settings.json',
  'goose/env',
]
const expected = [
  ...all,
  ...more,
  'kilo.json',
  'opencode.json',
  'pi/guard.js',
  'qwen-code/settings.json',
  'zed/settings.json',
]

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()

test('each client gets a profile that only its owner can read, without the key', async (context) => {
  const { cwd, command } = await workplace(context)
  const { code, out } = await command('setup', [], { project: 'demo', model: 'small-model' })
  assert.equal(code, 0)
  const folder = join(cwd, 'profiles')
  assert.deepEqual(await filesIn(folder), expected)
  for (const path of expected) {
    assert.equal((await stat(join(folder, path))).mode & 0o777, 0o600, path)
    const text = await readFile(join(folder, path), 'utf8')
    assert.ok(!text.includes(KEY), path)
    assert.match(
      text,
      /written by guard setup, seal [0-9a-f]{16}, (?:tried with (?:openai )?\d+\.\d|by its documentation)/,
      path,
    )
  }
  assert.equal((await stat(folder)).mode & 0o777, 0o700)
  assert.equal((await stat(join(folder, 'codex'))).mode & 0o777, 0o700)
  assert.ok(!out.includes(KEY))
  assert.deepEqual(await readdir(cwd), ['profiles'])
})

test('an existing folder keeps its mode; an invalid folder gives a one-line error', async (context) => {
  const { cwd, command } = await workplace(context)
  await chmod(cwd, 0o755)
  await command('setup', ['sdks'], { dir: '.' })
  assert.equal((await stat(cwd)).mode & 0o777, 0o755)
  assert.equal((await stat(join(cwd, 'env'))).mode & 0o777, 0o600)
  await assert.rejects(command('setup', ['codex'], { dir: 'env' }), (error: GuardError) => {
    assert.equal(error.code, 'USAGE')
    return /env\/codex\/guard\.config\.toml cannot be written: a file stands where a folder is needed \(ENOTDIR\)\. .*--dir\.$/.test(
      error.message,
    )
  })
})

test('values that the gateway rejects are not written into a profile', async (context) => {
  const { cwd, command } = await workplace(context)
  for (const [flags, told] of [
    [{ project: 'a/b' }, /^--project takes 1 to 128 of A-Z a-z 0-9 \. _ -, not "a\/b"\.$/],
    [{ agent: 'x y' }, /^--agent takes .*not "x y"\.$/],
    [{ project: '' }, /^--project needs a value\.$/],
    [{ model: '' }, /^--model needs a value\.$/],
    [{ model: 'a\u007f' }, /^--model takes 1 to 512 printable characters, /],
    [{ dir: '' }, /^--dir needs a value\.$/],
  ] as const)
    await assert.rejects(command('setup', ['codex'], flags), (error: GuardError) => {
      assert.equal(error.code, 'USAGE')
      return told.test(error.message)
    })
  await assert.rejects(command('run', [], { project: 'a/b' }, ['true']), /--project takes/)
  assert.deepEqual(await readdir(cwd), [])
  const { out } = await command('setup', ['aider'], { model: 'my model', print: true })
  assert.match(out, / --model 'openai\/my model' --model-settings-file /)
})

test('each profile is valid for its client', async (context) => {
  const { cwd, command } = await workplace(context)
  await command('setup', [], { project: 'demo', model: 'small-model' })
  const read = (path: string) => readFile(join(cwd, 'profiles', path), 'utf8')
  const claude = JSON.parse(await read('claude-code/settings.json'))
  assert.equal(claude.env.ANTHROPIC_BASE_URL, 'http://127.0.0.1:8787')
  assert.equal(claude.env.ANTHROPIC_AUTH_TOKEN, '')
  assert.equal(claude.env.ANTHROPIC_CUSTOM_HEADERS, 'x-guard-project-id: demo\nx-guard-agent-id: claude-code')
  assert.equal(
    claude.apiKeyHelper,
    `${process.execPath} /opt/guard/bin.js key print --config ${join(cwd, 'guard-config.yml')}`,
  )
  const codex = await read('codex/guard.config.toml')
  assert.match(codex, /^model_provider = "guard"$/m)
  assert.match(codex, /^\[model_providers\.guard\]$/m)
  assert.match(codex, /^base_url = "http:\/\/127\.0\.0\.1:8787\/v1"$/m)
  assert.match(codex, /^http_headers = \{ "x-guard-project-id" = "demo", "x-guard-agent-id" = "codex" \}$/m)
  const opencode = JSON.parse((await read('opencode.json')).replace(/^\/\/.*\n/, ''))
  assert.equal(opencode.model, 'guard/small-model')
  assert.equal(opencode.provider.guard.options.apiKey, '{env:GUARD_GATEWAY_KEY}')
  const gemini = JSON.parse((await read('gemini/.gemini/settings.json')).replace(/^\/\/.*\n/, ''))
  assert.equal(gemini.security.auth.selectedType, 'gemini-api-key')
  const [model] = parse(await read('continue/config.yaml')).models
  assert.deepEqual([model.apiBase, model.apiKey], ['http://127.0.0.1:8787/v1', '$' + '{{ secrets.GUARD_GATEWAY_KEY }}'])
  assert.equal(parse(await read('aider/model.settings.yml'))[0].name, 'openai/small-model')
})

test('a second run changes nothing, and new values replace unedited files', async (context) => {
  const { cwd, command } = await workplace(context)
  const file = join(cwd, 'profiles/claude-code/settings.json')
  await command('setup', ['claude-code'], { project: 'demo' })
  const before = (await stat(file)).mtimeMs
  const second = await command('setup', ['claude'], { project: 'demo', json: true })
  assert.equal(JSON.parse(second.out).clients[0].state, 'unchanged')
  assert.equal((await stat(file)).mtimeMs, before)
  const third = await command('setup', ['claude-code'], { project: 'other', json: true })
  assert.equal(JSON.parse(third.out).clients[0].state, 'written')
  assert.match(await readFile(file, 'utf8'), /x-guard-project-id: other/)
})

test('an edited or foreign profile stays, and the others are written', async (context) => {
  const { cwd, command } = await workplace(context)
  await command('setup', ['claude-code', 'codex'])
  const file = join(cwd, 'profiles/claude-code/settings.json')
  const edited = (await readFile(file, 'utf8')).replace('8787', '9999')
  await writeFile(file, edited)
  const { code, out } = await command('setup', ['claude-code', 'codex'], { project: 'demo' })
  assert.equal(code, 1)
  assert.match(out, /Claude Code \(claude-code\): exists\n {2}.*settings\.json has been edited/)
  assert.match(out, /Codex CLI \(codex\): written/)
  assert.equal(await readFile(file, 'utf8'), edited)
})

test('an unreadable file at the path of a profile counts as foreign', async (context) => {
  const { cwd, command } = await workplace(context)
  const profiles = join(cwd, 'profiles')
  await mkdir(join(profiles, 'codex/guard.config.toml'), { recursive: true })
  await symlink('nowhere', join(profiles, 'env'))
  await mkdir(join(profiles, 'claude-code'))
  await symlink('settings.json', join(profiles, 'claude-code/settings.json'))
  const { code, out } = await command('setup', ['claude-code', 'codex', 'sdks'])
  assert.equal(code, 1)
  assert.equal(out.match(/: exists\n/g)?.length, 3)
  assert.equal(await readlink(join(profiles, 'env')), 'nowhere')
  assert.equal(await readlink(join(profiles, 'claude-code/settings.json')), 'settings.json')
})

test('profiles before a failed one are reported', async (context) => {
  const { cwd, command, outText } = await workplace(context)
  await mkdir(join(cwd, 'profiles'))
  await writeFile(join(cwd, 'profiles/codex'), '')
  await assert.rejects(command('setup', ['claude-code', 'codex']), { code: 'USAGE' })
  assert.match(outText(), /^Claude Code \(claude-code\): written\n/)
})

test('a client that cannot work gets a reason instead of a profile', async (context) => {
  const { cwd, command } = await workplace(context)
  const { code, out } = await command('setup', ['cursor', 'opencode'])
  assert.equal(code, 0)
  assert.match(out, /Cursor \(cursor\): skipped\n {2}Nothing was written: .*servers/)
  assert.match(out, /OpenCode \(opencode\): skipped\n {2}.*--model/)
  assert.deepEqual(await readdir(cwd), [])
  await assert.rejects(command('setup', ['emacs']), (error: GuardError) => {
    assert.equal(error.code, 'USAGE')
    assert.match(error.message, /no client "emacs"; there is claude-code, codex/)
    return true
  })
})

test('--print prints all profiles and writes nothing', async (context) => {
  const { cwd, command } = await workplace(context)
  const { out } = await command('setup', ['codex'], { print: true, enforce: true })
  assert.match(out, /model_provider = "guard"/)
  assert.match(out, /block_status_override: \{ "codex\*": 400 \}/)
  assert.deepEqual(await readdir(cwd), [])
})

test('a foreign file gives PROFILE_EXISTS', async (context) => {
  const { cwd } = await workplace(context)
  await writeFile(join(cwd, 'env'), 'mine')
  await assert.rejects(writeProfile(cwd, { path: 'env', text: '# written by guard setup' }), { code: 'PROFILE_EXISTS' })
})

test('--agent registers an agent, stores its key once, and uses it in profiles', async (context) => {
  const asked: unknown[] = []
  const { cwd, command } = await workplace(context, {
    asking: (work) =>
      work(async (method, path, body) => {
        asked.push([method, path, body])
        return { key: 'gak_of-the-agent' }
      }, undefined),
  })
  await command('setup', ['claude-code'], { agent: 'night', project: 'demo' })
  await command('setup', ['claude-code'], { agent: 'night', project: 'demo' })
  assert.deepEqual(asked, [['POST', '/api/agents', { id: 'night', project_id: 'demo' }]])
  const stored = join(cwd, 'profiles/keys/night')
  assert.equal((await stat(stored)).mode & 0o777, 0o600)
  const { out } = await command('key print', [], { agent: 'night', dir: 'profiles' })
  assert.equal(out, 'gak_of-the-agent\n')
  const settings = JSON.parse(await readFile(join(cwd, 'profiles/claude-code/settings.json'), 'utf8'))
  assert.match(settings.apiKeyHelper, /--agent night --dir .*profiles$/)
  const { out: shown } = await command('setup', ['claude-code'], { agent: 'night', passthrough: true, print: true })
  assert.match(shown, /x-guard-key: gak_of-the-agent"/)
  assert.ok(!shown.includes(KEY))
})

test('an existing agent gets another key', async (context) => {
  const paths: string[] = []
  const { command } = await workplace(context, {
    asking: (work) =>
      work(async (_method, path) => {
        paths.push(path)
        if (path === '/api/agents') throw new GuardError(sessionErrors.AGENT_EXISTS)
        return { key: 'gak_second' }
      }, undefined),
  })
  await command('setup', ['sdks'], { agent: 'night' })
  assert.deepEqual(paths, ['/api/agents', '/api/agents/night/keys'])
})

test('without an agent the gateway key is printed; a missing stored key is an error', async (context) => {
  const { command } = await workplace(context)
  assert.equal((await command('key print', [])).out, `${KEY}\n`)
  assert.deepEqual(JSON.parse((await command('key print', [], { json: true })).out), { key: KEY })
  await assert.rejects(command('key print', [], { agent: 'nobody' }), /Run "guard setup --agent nobody" first/)
  await assert.rejects(command('key print', [], { agent: '../../etc/passwd' }), /cannot be an agent's id/)
})
