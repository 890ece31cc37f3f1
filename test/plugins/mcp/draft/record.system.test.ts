import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { storedDefinition } from '../../../../plugins/mcp/draft/tools-on-record.ts'
import { definitionText } from '../../../../plugins/mcp/tools/pins.ts'
import { main } from '../../../../presets/default/main.ts'
import { guardProgram } from '../../../kit/child-gateway.ts'
import { fakeIo } from '../../../kit/io.ts'
import { startMcp } from '../../../kit/mcp.ts'
import { mcpUpstream } from '../../../kit/mcp-upstream.ts'
import { listOf, plainGateway } from './kit.ts'

describe('a draft from the record', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-draft-'))
  })
  after(() => rm(folder, { recursive: true }))

  const guard = async (...argv: readonly string[]) => {
    const io = fakeIo({ cwd: folder })
    return { code: await main(['mcp', ...argv], io), out: io.outText(), err: io.errText() }
  }

  it('reads a definition back from the lines that are stored of it', () => {
    const definition = {
      name: 'get',
      description: 'Gets.\ninputSchema: {"type":"string"}\n  more',
      inputSchema: { type: 'object', properties: { path: { type: 'string', description: 'a\nb' } } },
      annotations: { readOnlyHint: true },
    }
    const { redact } = plainGateway()
    const { name: _name, ...rest } = definition
    assert.deepEqual(JSON.parse(storedDefinition(definitionText(JSON.stringify(definition), redact))), rest)
  })

  it('reads lists from a file and writes a policy that validates', async () => {
    await writeFile(join(folder, 'git.json'), listOf('git'))
    const made = await guard('draft', '--server-id', 'git', '--tools', 'git.json', '--output', 'policy.yml')
    assert.equal(made.code, 0, made.err)
    assert.match(
      made.err,
      /^wrote policy\.yml: \d rules about 28 tools, \d+ tests, all passed; in shadow until you say enforce$/m,
    )
    const valid = await guard('validate-policy', 'policy.yml', '--strict', '--tools', 'git.json')
    assert.equal(valid.code, 0, valid.out)
    assert.match(valid.out, /^tests: \d+ passed\nvalid /)
    assert.match(
      (await guard('draft', '--server-id', 'git', '--tools', 'git.json', '--output', 'policy.yml')).err,
      /exists already/,
    )
    assert.match((await guard('draft', '--tools', 'git.json')).err, /--server-id <id>/)
    assert.match((await guard('draft', '--server-id', 'a*', '--tools', 'git.json')).err, /letters, digits/)
    assert.match((await guard('draft', '--server-id', 'git', '--tools', 'policy.yml')).err, /policy\.yml|JSON/)
  })

  it('starts a server, lists its tools, calls none and ends it', async () => {
    const node = [process.execPath, ...process.execArgv.filter((word) => word.startsWith('--conditions'))]
    const server = [process.execPath, ...guardProgram, 'mcp', 'test-server', '--transport', 'stdio', '--page-size', '3']
    const made = await guard('draft', '--server-id', 'child', '--json', '--', ...server)
    assert.equal(made.code, 0, made.err)
    const { yaml, tools } = JSON.parse(made.out)
    assert.ok(tools > 3)
    assert.match(yaml, /^# A draft for child, made on .* from \d+ tools? and 0 calls on record\.$/m)
    const lost = await guard(
      'draft',
      '--server-id',
      'gone',
      '--',
      ...node,
      '-e',
      'console.error("no \\u001b[31mkey"); process.exit(3)',
    )
    assert.notEqual(lost.code, 0)
    assert.match(lost.err, /The tools of "gone" cannot be listed/)
    assert.match(lost.err, /^gone: no .*key$/m)
    assert.doesNotMatch(lost.err, /\u001b/)
    assert.match((await guard('draft', '--server-id', 'a', '--tools', 'git.json', '--', 'x')).err, /not both/)
  })

  it('asks a configured server that nobody has used yet', async () => {
    const upstream = await mcpUpstream()
    const config = `gateway_key: guard_0123456789abcdef\nserver: { port: 1 }\nstorage: { file: guard.db }\nmcp: { servers: { up: { transport: http, target: "${upstream.url}" } } }\n`
    await writeFile(join(folder, 'guard-config.yml'), config, { mode: 0o600 })
    const made = await guard('draft', '--server-id', 'up')
    assert.equal(made.code, 0, made.err)
    assert.match(made.out, /^# A draft for up, made on .* from 3 tools and 0 calls on record\.$/m)
    assert.equal(upstream.calls('tools/call').length, 0)
    assert.equal((await guard('draft', '--server-id', 'none')).code, 1)
    await upstream.close()
  })

  it('is made beside a running gateway of what it has seen, and of its storage when none runs', async () => {
    const policy = 'version: 1\ndefault: allow\nrules: [{ id: ask, tools: [read_file], action: confirm }]\n'
    await using service = await startMcp({ policy, backend: 'sqlite', storage: 'full_content_logging: true' })
    const none = await service.gateway.request('GET', '/api/v1/mcp/draft?server_id=up')
    assert.equal(none.status, 404)
    assert.match(none.text, /guard mcp draft --server-id up -- <command/)
    const client = await service.session()
    await client.request('tools/list')
    await client.call('read_file', { path: 'notes/a.md' })
    await client.call('read_file', { path: 'notes/a.md' })
    await client.call('read_file', { path: '../b.md' })
    await client.call('write_file', { path: 'c.md', content: 'x' })
    const { status, json } = await service.gateway.request('GET', '/api/v1/mcp/draft?server_id=up&since=1h')
    assert.equal(status, 200)
    const { yaml } = json as { readonly yaml: string }
    assert.match(yaml, /from 3 tools and 4 calls on record since 1h/)
    assert.match(yaml, /- read_file # "read" in its name; called 3 times, 0 let through/)
    assert.match(yaml, /- write_file # "write" in its name; called once, 1 let through/)
    // arguments of what was asked about are kept
    assert.match(yaml, /Of 1 call only hashes of the arguments are on record/)
    assert.match(yaml, /name: seen 2 times, call: .* path: notes\/a\.md .*, expect: allow/)
    assert.match(yaml, /name: seen once, call: .* path: \.\.\/b\.md .*, expect: deny/)
    const file = await service.gateway.request('GET', '/api/v1/mcp/draft?server_id=up&since=1h&format=yaml')
    assert.equal(file.text, yaml)
    assert.match(String(file.headers.get('content-disposition')), /filename="mcp-policy\.yml"/)
    assert.equal((await service.gateway.request('GET', '/api/v1/mcp/draft?since=never')).status, 400)
    await service.gateway.close()
    const io = fakeIo({ cwd: service.folder })
    await writeFile(
      join(service.folder, 'guard-config.yml'),
      'gateway_key: guard_0123456789abcdef\nserver: { port: 1 }\nstorage: { file: guard.db }\n',
      { mode: 0o600 },
    )
    assert.equal(await main(['mcp', 'draft', '--since', '1h'], io), 0, io.errText())
    const rules = (text: string): string => text.slice(text.indexOf('\nrules:'))
    assert.equal(rules(io.outText()), rules(yaml))
  })
})
