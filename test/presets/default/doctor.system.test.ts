import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { main } from '../../../presets/default/main.ts'
import { startGateway } from '../../kit/gateway.ts'
import { fakeIo } from '../../kit/io.ts'
import { mcpUpstream } from '../../kit/mcp-upstream.ts'
import { FakeProvider } from '../../kit/provider.ts'

const KEY = 'guard_key-of-the-doctor-0123456789abcdef'
const upstreams = 'upstreams: [{ name: one, base_url: "http://127.0.0.1:9", api_key: sk-of-one, styles: [messages] }]'

/** Without a database, for what is not about it: to open one takes longer than all else. */
const inMemory = `${upstreams}\nstorage: { backend: memory }`

/** A free port, or one that somebody else keeps. */
const portOf = async (context: TestContext, taken: boolean): Promise<number> => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  if (taken) context.after(() => server.close())
  else await new Promise((resolve) => server.close(resolve))
  return port
}

const examined = async (context: TestContext, text: string | undefined, args: readonly string[] = []) => {
  const cwd = await mkdtemp(join(tmpdir(), 'guard-doctor-'))
  context.after(() => rm(cwd, { recursive: true, force: true }))
  if (text !== undefined) await writeFile(join(cwd, 'guard-config.yml'), text, { mode: 0o600 })
  const look = async () => {
    const io = fakeIo({ cwd, env: { PATH: process.env.PATH } })
    const code = await main(['doctor', ...args], io)
    return { code, out: io.outText() }
  }
  return { cwd, look }
}

const config = (port: number, more = inMemory) => `gateway_key: ${KEY}\nserver: { port: ${port} }\n${more}\n`

test('a sound installation has one line per check', async (context) => {
  const { look } = await examined(context, config(await portOf(context, false), upstreams))
  const { code, out } = await look()
  assert.equal(code, 0, out)
  for (const part of [/✓ Node 2\d/, /✓ configuration .*guard-config\.yml/, /✓ gateway key/, /✓ http:\S+ is free/])
    assert.match(out, part)
  for (const part of [/✓ storage .*guard\.db/, /✓ mode shadow/, /✓ upstream one at/, /✓ prices/, /✓ no profiles/])
    assert.match(out, part)
  assert.ok(!out.includes(KEY))
})

test('an invalid configuration is reported with its location, and nothing else is checked', async (context) => {
  const { look } = await examined(context, 'gateway_kee: x\n')
  const { code, out } = await look()
  assert.equal(code, 1)
  assert.match(out, /✗ guard-config\.yml:1:1: .*gateway_kee/)
  assert.doesNotMatch(out, /storage|upstream/)
  const absent = await examined(context, undefined)
  assert.match((await absent.look()).out, /✗ .*does not exist[\s\S]*→ .*--init/)
})

test('each error has a remedy', async (context) => {
  const port = await portOf(context, true)
  const more =
    'upstreams: [{ name: one, base_url: "https://models.example", styles: [messages] }, { name: own, base_url: "http://127.0.0.1:9", styles: [responses] }]\nstorage: { backend: memory }'
  const { cwd, look } = await examined(context, config(port, more).replace(KEY, 'short-key'))
  await chmod(join(cwd, 'guard-config.yml'), 0o644)
  await mkdir(join(cwd, 'profiles'))
  await writeFile(join(cwd, 'profiles/env'), '# written by guard setup, seal 0\nBASE=http://127.0.0.1:1/v1\n')
  const { code, out } = await look()
  assert.equal(code, 1)
  assert.match(out, /! .*guard-config\.yml can be read by others[^\n]*\n {2}→ chmod 600/)
  assert.match(out, /! the gateway key has 9 characters/)
  assert.match(out, new RegExp(`✗ 127\\.0\\.0\\.1:${port} is taken: another program uses it`))
  assert.match(out, /✗ upstream one has no api_key\n {2}→ .*auth: none/)
  assert.match(out, /✓ upstream own at http:\/\/127\.0\.0\.1:9/)
  assert.match(out, /! storage\.backend is memory/)
  assert.match(out, /memory of stores: up to \d/)
  assert.match(out, /! .*profiles\/env leads to another address/)
})

test('--online checks the upstreams', async (context) => {
  const closed = await portOf(context, false)
  const more = inMemory.replace(':9"', `:${closed}"`)
  const { look } = await examined(context, config(await portOf(context, false), more), ['--online', '--json'])
  const { code, out } = await look()
  assert.equal(code, 1)
  const { findings } = JSON.parse(out)
  const [found] = findings.filter(({ level }: { level: string }) => level === 'error')
  assert.match(found.what, /upstream one at .* does not answer: .*ECONNREFUSED/)
})

test('a rejected key is reported', async (context) => {
  const gateway = await startGateway()
  context.after(() => gateway.close())
  const { look } = await examined(context, config(Number(new URL(gateway.url).port)))
  const { code, out } = await look()
  assert.equal(code, 1)
  assert.match(out, /✗ The gateway at \S+ does not accept the gateway_key of .*guard-config\.yml\..*\n {2}→ --config/)
})

test('requests of agents are judged without those of the Playground', async (context) => {
  const { cwd, look } = await examined(context, config(await portOf(context, false), upstreams))
  const provider = await new FakeProvider().listen()
  context.after(() => provider.close())
  const gateway = await startGateway({ folder: cwd, backend: 'sqlite', upstream: provider.url })
  for (const more of [{ model: 'm-1' }, { model: 'm-1' }, { model: 'm-1' }, {}])
    await gateway.request('POST', '/v1/chat/completions', { ...more, messages: [] }, { 'x-guard-session-id': 'one' })
  await gateway.request('POST', '/api/demo/run', { scenario: 'exact-loop', mode: 'shadow' })
  await gateway.close()
  const { out } = await look()
  assert.match(
    out,
    /! mode shadow: enforce would have blocked 1 of 4 requests of the last seven days \(25 %\); their sessions went on for \d+ tokens\n {2}→ guard report .* guard policy apply enforce-recommended --mode enforce /,
  )
  assert.match(out, /! no price for m-1: their cost counts as 0\n/)
})

test('a client’s checks cover key, upstream, probes and the client', async (context) => {
  const gateway = await startGateway()
  context.after(() => gateway.close())
  const about = config(Number(new URL(gateway.url).port)).replace(KEY, gateway.key)
  const { cwd, look } = await examined(context, about, ['claude'])
  const { code, out } = await look()
  assert.equal(code, 0, out)
  assert.match(out, /✓ a gateway answers at \S+ and takes the key\n✓ upstream one at \S+\n✓ probes without a key are/)
  assert.doesNotMatch(out, /Node|storage|prices/)
  const io = fakeIo({ cwd, env: {} })
  assert.equal(await main(['doctor', 'codex'], io), 1)
  assert.match(io.outText(), /✗ Codex CLI speaks responses, and no upstream does\n {2}→ Add one/)
  assert.equal(await main(['doctor', 'cursor'], io), 1)
  assert.match(io.outText(), /✗ Cursor: .*servers[^\n]*\n {2}→ Use another client\.\n$/)
  assert.equal(await main(['doctor', 'claud'], io), 2)
  assert.match(io.errText(), /no client "claud"; there is claude-code, codex, /)
  const silent = await examined(context, config(await portOf(context, false)), ['sdks'])
  const told = await silent.look()
  assert.equal(told.code, 1)
  assert.match(told.out, /✗ No gateway answers at [^\n]*\n {2}→ "guard run --start" /)
})

test('MCP policy warnings are reported, and --online checks the servers', async (context) => {
  const closed = await portOf(context, false)
  const upstream = await mcpUpstream()
  context.after(() => upstream.close())
  const servers = [
    `files: { target: "http://127.0.0.1:${closed}/mcp" }`,
    `up: { target: "${upstream.url}" }`,
    `child: { transport: stdio, command: "${process.execPath}", args: ["-e", "process.exit(3)"] }`,
  ]
  const more = `${inMemory}\nmcp: { policy: policy.yml, servers: { ${servers} }, bundles: { work: {} } }`
  const { cwd, look } = await examined(context, config(await portOf(context, false), more), ['--online'])
  const policy = `version: 1
pinning: off
rules: [{ id: no, tools: [rm], action: deny }]
tests: [{ call: { tool: rm }, expect: deny }]
`
  await writeFile(join(cwd, 'policy.yml'), policy)
  const { out } = await look()
  assert.match(out, /✓ MCP policy \S+policy\.yml, its tests pass \(1\)\n! MCP policy: PIN_OFF a tool may change/)
  assert.match(
    out,
    /\n {2}→ guard mcp validate-policy \S+policy\.yml\n! every local program can approve MCP calls, an agent included\n {2}→ Set mcp\.approver_key/,
  )
  assert.match(out, /✗ MCP server files at \S+ does not answer: .*ECONNREFUSED/)
  assert.match(out, /✓ MCP server up answers \(scripted 1\.0\.0, MCP 2025-11-25\)/)
  assert.match(out, /✗ MCP server child does not answer: .*code 3.*\n {2}→ Check command and args\./)
  assert.match(out, /✓ MCP bundle work at \/mcp\/work: files, up, child \(names: prefix\)/)
  assert.equal(upstream.asked.at(-1)?.method, 'DELETE', 'the session that was opened is ended')
})

test('an invalid price file is reported with its path', async (context) => {
  const { cwd, look } = await examined(
    context,
    config(await portOf(context, false), `${inMemory}\nreplay: { pricing: prices.yml }`),
  )
  const file = join(cwd, 'prices.yml')
  await writeFile(file, 'version: 1\ncurrency: USD\nmodels:\n  m-1: 0.5\n')
  const { out } = await look()
  const line = out.split('\n').find((text) => text.startsWith('! prices: '))
  assert.equal(line?.startsWith(`! prices: ${file}:4:3: a price is an integer`), true, out)
})

test('advice names the checked configuration file', async (context) => {
  const { cwd } = await examined(context, undefined)
  await writeFile(join(cwd, 'other.yml'), `gateway_key: short\nserver: { port: ${await portOf(context, false)} }\n`)
  const io = fakeIo({ cwd, env: { PATH: process.env.PATH } })
  await main(['doctor', '--config', 'other.yml'], io)
  const said = io.outText()
  assert.match(said, /the gateway key has 5 characters and can be guessed\n {2}→ Put a longer one into other\.yml\.\n/)
  assert.equal(said.match(/no upstream/gi)?.length, 1)
})

test('an error that prevents the start is not attributed to storage', async (context) => {
  const port = await portOf(context, false)
  for (const [more, told] of [
    [
      'plugins: [./nope.ts]',
      /✗ the gateway cannot be opened: guard-config\.yml:\d+:\d+: plugins\[0\]: .*nope\.ts cannot be loaded as a plugin: .*\n {2}→ guard explain INVALID_CONFIG /,
    ],
    [
      'storage: { file: nowhere/guard.db }',
      /✗ storage: The folder .*nowhere of the database file does not exist\..*\n {2}→ guard explain DATABASE_UNWRITABLE /,
    ],
  ] as const) {
    const { look } = await examined(context, config(port, `${upstreams}\n${more}`))
    const { code, out } = await look()
    assert.equal(code, 1)
    assert.match(out, told)
  }
})

test('findings have colour if stdout is a terminal', async (context) => {
  const { cwd } = await examined(context, config(await portOf(context, false)))
  const written = async (outIsTerminal: boolean) => {
    const io = fakeIo({ cwd, env: { PATH: process.env.PATH }, tty: true })
    Object.assign(io.out, { isTTY: outIsTerminal })
    await main(['doctor'], io)
    return io.outText()
  }
  assert.match(await written(true), /^\u001b\[32m✓\u001b\[39m Node/)
  assert.match(await written(false), /^✓ Node/)
})

test('symbols suit the locale', async (context) => {
  const { cwd } = await examined(context, config(await portOf(context, false), 'storage: { backend: memory }'))
  const said = async (locale: string) => {
    const io = fakeIo({ cwd, env: { PATH: process.env.PATH, LC_ALL: locale } })
    await main(['doctor'], io)
    return io.outText()
  }
  assert.match(await said('de_DE.UTF-8'), /^✓ Node [\s\S]*\n! storage\.backend[^\n]*\n {2}→ Set /)
  assert.match(await said('C'), /^\+ Node [\s\S]*\n! storage\.backend[^\n]*\n {2}-> Set /)
})
