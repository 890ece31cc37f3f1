import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { main } from '../../../presets/default/main.ts'
import { fakeIo } from '../../kit/io.ts'

const key = 'gateway_key: guard_0123456789abcdef\n'

describe('the command line', () => {
  let cwd = ''
  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'guard-main-'))
  })
  afterEach(() => rm(cwd, { recursive: true, force: true }))

  let env: Readonly<Record<string, string>> = {}
  const guard = async (...argv: readonly string[]) => {
    const io = fakeIo({ cwd, env: { OPENAI_API_KEY: 'sk-openai', ...env } })
    const code = await main(argv, io)
    return { code, out: io.outText(), err: io.errText() }
  }
  const configure = (text: string, name = 'guard-config.yml') => writeFile(join(cwd, name), text, { mode: 0o600 })

  it('prints version and codes without a configuration, and writes none', async () => {
    assert.match((await guard('--version')).out, /^\d+\.\d+\.\d+\n$/)
    assert.equal((await guard('explain', 'PORT_TAKEN')).code, 0)
    assert.deepEqual(await readdir(cwd), [])
  })
  it('sends the approver key of a flag or the environment', async () => {
    await configure(`${key}server: { port: 0 }\nmcp: { approver_key: only-a-person }\n`)
    const add = ['agents', 'add', 'reviewer']
    assert.match((await guard(...add)).err, /needs the approver key.*--approver-key.*APPROVER_KEY_REQUIRED/)
    assert.match((await guard(...add, '--approver-key', 'guess')).err, /approver key is wrong/)
    assert.equal((await guard(...add, '--approver-key', 'only-a-person')).code, 0)
    const profile = ['setup', 'sdks', '--agent', 'writer']
    assert.match((await guard(...profile)).err, /APPROVER_KEY_REQUIRED/)
    assert.equal((await guard(...profile, '--approver-key', 'only-a-person')).code, 0)
    env = { GUARD_APPROVER_KEY: 'only-a-person' }
    assert.equal((await guard('policy', 'apply', 'observe', '--yes')).code, 0)
    env = {}
    assert.match((await guard('policy', 'apply', 'default', '--yes')).err, /APPROVER_KEY_REQUIRED/)
    assert.match((await guard('agents', 'resume', 'reviewer')).err, /APPROVER_KEY_REQUIRED/)
    assert.equal((await guard('agents', 'resume', 'reviewer', '--approver-key', 'only-a-person')).code, 0)
  })
  it('names the line of an unknown plugin, API style or storage', async () => {
    const upstreams = `upstreams: [{ name: a, base_url: "http://127.0.0.1:1", styles: [smoke] }]`
    for (const [line, says] of [
      ['plugins: [./none.ts]', /^error: guard-config\.yml:2:11: plugins\[0\]: .*none\.ts cannot be loaded/],
      [upstreams, /^error: guard-config\.yml:2:\d+: upstreams\[0\]\.styles\[0\]: no plugin speaks the style "smoke"/],
      [
        'storage: { backend: cellar }',
        /^error: guard-config\.yml:2:12: storage\.backend: there is no storage "cellar"/,
      ],
    ] as const) {
      await configure(`${key}${line}\n`)
      for (const words of ['gateway run', 'replay list']) {
        const { code, err } = await guard(...words.split(' '))
        assert.equal(code, 78)
        assert.match(err, says)
      }
    }
    await configure(`${key}plugins: [./none.ts]\n`)
    assert.match(
      (await guard('mcp', 'run', '--server-id', 'a', '--', 'true')).err,
      /guard-config\.yml:2:11: plugins\[0\]: /,
    )
  })
  it('creates an approver key, of which the configuration contains only the hash', async () => {
    await configure(key)
    const { out, err } = await guard('key', 'approver')
    assert.match(out, /^guard_[\w-]{43}\n$/)
    const [line = ''] = /^mcp: .*$/m.exec(err) ?? []
    assert.ok(!err.includes(out.trim()))
    await configure(`${key}server: { port: 0 }\n${line}\n`)
    const add = ['agents', 'add', 'reviewer']
    assert.match((await guard(...add)).err, /APPROVER_KEY_REQUIRED/)
    assert.equal((await guard(...add, '--approver-key', out.trim())).code, 0)
  })
  it('prints an empty status line without a configuration', async () => {
    const { code, out, err } = await guard('statusline')
    assert.deepEqual([code, err], [0, ''])
    assert.match(out, /^[^\n]*\n$/)
    assert.deepEqual(await readdir(cwd), [])
  })
  it('prints help despite an invalid configuration', async () => {
    await configure('plugins: [\n')
    const { code, out } = await guard('--help')
    assert.equal(code, 0)
    assert.match(out, /gateway run/)
  })
  it('rejects a missing named configuration, and writes none', async () => {
    const { code, err } = await guard('gateway', 'run', '--config', 'mine.yml')
    assert.equal(code, 78)
    assert.match(
      err,
      /^error: .*mine\.yml does not exist; "guard gateway run --init" writes one\. \(INVALID_CONFIG\)\n$/,
    )
    assert.deepEqual(await readdir(cwd), [])
  })
  it('rejects an invalid configuration with exit code 78 and one line', async () => {
    await configure(`${key}server: { prot: 1 }\n`)
    assert.deepEqual(await guard('gateway', 'run'), {
      code: 78,
      out: '',
      err: 'error: guard-config.yml:2:11: server.prot: unknown key. Did you mean "port"? (INVALID_CONFIG)\n',
    })
    const json = await guard('gateway', 'run', '--json')
    assert.equal(JSON.parse(json.err).error.line, 2)
  })
  it('rejects a non-loopback address with exit code 78 before it opens anything', async () => {
    await configure(key)
    const flag = await guard('gateway', 'run', '--host', '0.0.0.0')
    assert.equal(flag.code, 78)
    assert.match(
      flag.err,
      /server\.host is 0\.0\.0\.0, which other machines can reach.*--allow-remote\. \(HOST_NOT_LOOPBACK\)\n$/,
    )
    await configure(`${key}server: { host: 192.0.2.1 }\n`)
    assert.equal((await guard('gateway', 'run')).code, 78)
    assert.deepEqual(await readdir(cwd), ['guard-config.yml'])
  })
  it('accepts it with server.allow_remote', async () => {
    await configure(`${key}server: { host: 192.0.2.1, port: 1, allow_remote: true }\n`)
    const { code, err } = await guard('gateway', 'run')
    assert.equal(code, 78)
    assert.match(err, /cannot listen on 192\.0\.2\.1:1/)
  })
  it('accepts it with --allow-remote', async () => {
    await configure(key)
    const { code, err } = await guard('gateway', 'run', '--host', '192.0.2.1', '--port', '1', '--allow-remote')
    assert.equal(code, 78)
    assert.match(err, /cannot listen on 192\.0\.2\.1:1/)
  })
  it('rejects an invalid port with exit code 2', async () => {
    await configure(key)
    const { code, err } = await guard('gateway', 'run', '--port', '99999')
    assert.equal(code, 2)
    assert.match(err, /--port takes a number from 0 to 65535, not "99999"\. \(USAGE\)/)
  })
  it('rejects an unusable address with exit code 78', async () => {
    await configure(`${key}storage: { backend: memory }`)
    for (const port of ['0', '18787']) {
      const { code, err } = await guard('gateway', 'run', '--host', '[::1]', '--port', port, '-q')
      assert.equal(code, 78)
      assert.match(err, /^error: The gateway cannot listen on [^\n]*: ENOTFOUND\. \(INVALID_CONFIG\)\n$/)
    }
  })
  it('checks the address of an MCP server in a flag', async () => {
    await configure(key)
    for (const [target, says] of [
      ['http://mcp.example/', /^error: --server docs: would be reached without encryption; [^\n]* \(USAGE\)\n$/],
      ['https://u:p@mcp.example/', /^error: --server docs: holds a user name or password; /],
    ] as const) {
      const { code, err } = await guard('mcp', 'serve', '--server', `docs=${target}`, '-q')
      assert.equal(code, 2)
      assert.match(err, says)
    }
  })
  it('writes no configuration if the flags are invalid', async () => {
    for (const [flag, value, expected, says] of [
      ['--port', 'x', 2, /^error: --port takes [^\n]*\n$/],
      ['--host', '0.0.0.0', 78, /^error: server\.host is 0\.0\.0\.0, [^\n]*\n$/],
    ] as const) {
      const { code, err } = await guard('gateway', 'run', flag, value)
      assert.equal(code, expected)
      assert.match(err, says)
      assert.deepEqual(await readdir(cwd), [])
    }
  })
  it('writes the file of --config with --init, unless it exists', async () => {
    const first = await guard('gateway', 'run', '--config', 'mine.yml', '--init', '--data', '/nowhere/x.db')
    assert.match(
      first.err,
      /^Wrote mine\.yml with a new gateway key, readable by you only; the key is in line 3, gateway_key\.\n/,
    )
    const text = await readFile(join(cwd, 'mine.yml'), 'utf8')
    const again = await guard('gateway', 'run', '--config', 'mine.yml', '--init')
    assert.equal(again.code, 1)
    assert.match(again.err, /mine\.yml exists already; it was left as it is\. \(CONFIG_EXISTS\)/)
    assert.equal(await readFile(join(cwd, 'mine.yml'), 'utf8'), text)
  })
  it('prints warnings, except with --quiet', async () => {
    await configure('gateway_key: short-key\n')
    assert.match(
      (await guard('gateway', 'run', '--host', '0.0.0.0')).err,
      /^warning: gateway_key has fewer than 16 characters/,
    )
    assert.doesNotMatch((await guard('gateway', 'run', '--host', '0.0.0.0', '-q')).err, /warning/)
  })
  it('runs and lists commands of configured plugins', async () => {
    await configure(`${key}plugins: [./mine.mjs]\n`)
    await writeFile(
      join(cwd, 'mine.mjs'),
      `import { commandKind } from ${JSON.stringify(import.meta.resolve('guard-gateway/lib/command'))}
      export const mine = { name: 'mine', apply: (gateway) => gateway.registry(commandKind).add({ id: 'mine', summary: 'of my own', run: async (input, io) => { io.out.write('mine'); return 3 } }) }`,
    )
    assert.deepEqual(await guard('mine'), { code: 3, out: 'mine', err: '' })
    assert.match((await guard('--help')).out, / {2}mine +of my own\n/)
  })
  it('validates and explains policies with checks of configured plugins', async () => {
    await writeFile(
      join(cwd, 'mine.mjs'),
      `import { mcpCheckKind } from ${JSON.stringify(import.meta.resolve('guard-gateway/lib/mcp-check'))}
      const check = { id: 'short', schema: { type: 'object', required: ['args'], properties: { args: { $ref: '#/$defs/pointers' } }, additionalProperties: false },
        find: ({ text }) => (text.length < 4 ? [] : [{ pointer: '/text', reason: 'is long', certain: true }]) }
      export const mine = { name: 'mine', apply: (gateway) => gateway.registry(mcpCheckKind).add(check) }`,
    )
    const policy = `version: 1
rules: [{ id: own, tools: [say], action: allow, checks: [{ short: { args: [/text] } }] }]
tests: [{ call: { tool: say, arguments: { text: abcd } }, expect: deny, rule: own }]
`
    await configure(policy, 'policy.yml')
    assert.match((await guard('mcp', 'validate-policy', 'policy.yml')).out, /unknown check "short"/)
    await configure(`${key}plugins: [./mine.mjs]\n`)
    assert.match((await guard('mcp', 'validate-policy', 'policy.yml')).out, /^tests: 1 passed\nvalid/)
    const explain = ['mcp', 'explain', '--policy', 'policy.yml', '--tool', 'say', '--arguments']
    assert.match((await guard(...explain, '{"text": "abc"}')).out, /^allow/)
    assert.match((await guard(...explain, '{"text": "abcd"}')).out, /^deny.*\n.*\n.*\/text is long/)
    assert.match((await guard(...explain, '{}')).out, /cannot|throws|failed/i)
    await configure('plugins: [./mine.mjs]\n')
    const { code, err } = await guard('mcp', 'validate-policy', 'policy.yml')
    assert.equal(code, 78)
    assert.match(err, /gateway_key/)
  })
  it('protects the gateway’s own files from tools', async () => {
    const files = ['my.yml', 'data/mine.sqlite', 'mine.mjs', 'other.yml']
    await configure(`${key}storage: { file: data/mine.sqlite }\nplugins: [./mine.mjs]\n`, 'my.yml')
    await configure("export const mine = { name: 'mine', apply() {} }", 'mine.mjs')
    const check = `{ path: { args: [/path], inside: [${JSON.stringify(cwd)}] } }`
    const rule = `{ id: inside, tools: [read], action: allow, checks: [${check}] }`
    await configure(`version: 1\nrules: [${rule}]\n`, 'policy.yml')
    const words = ['mcp', 'explain', '--config', 'my.yml', '--policy', 'policy.yml', '--tool', 'read', '--arguments']
    const verdicts = files.map(async (file) => {
      const { out } = await guard(...words, JSON.stringify({ path: join(cwd, file) }))
      return out.split(' ')[0]
    })
    assert.deepEqual(await Promise.all(verdicts), ['deny', 'deny', 'deny', 'allow'])
  })
})
