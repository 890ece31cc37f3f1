import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { root } from './documents.ts'
import { Followed, Reader } from './followed.ts'
import { standIn } from './stand-in.ts'

let reader: Reader
before(async () => {
  reader = await Reader.start()
})
after(() => reader.close())
const follow = (file: string): Followed => new Followed(file, () => reader)

describe('how to connect an agent', () => {
  const page = follow('plugins/clients/CONNECT.md')
  it('starts one, and leaves nothing behind', async () => {
    const before = readdirSync(root)
    assert.match(await standIn(reader, page.block('sh', 'run -- claude')), /talks to [^\n]*http:\/\/127/)
    await page.says('setup claude-code --print', /ANTHROPIC_BASE_URL/)
    assert.deepEqual(readdirSync(root), before)
  })
  it('reads the key, and makes a first request that is answered as shown', async () => {
    const said = await page.shell('export GUARD_GATEWAY_KEY', { after: '\necho "$GUARD_GATEWAY_KEY"' })
    assert.equal(said.trim(), reader.gateway.key)
    const answer = await page.shell('Say hello')
    for (const line of page.block('http', 'x-guard-decision: allow').trim().split('\n'))
      assert.ok(answer.includes(line.replace('…', '')), line)
    assert.match(answer, /Hello there/)
  })
  it('makes one with each client', async () => {
    assert.match(await page.program("from 'openai'", 'openai-sdk.ts'), /Hello there\./)
    assert.match(await page.program("from '@anthropic-ai/sdk'", 'anthropic-sdk.ts'), /Hello there\./)
  })
  it('points an agent at the gateway by variables that this agent reads', () => {
    const variables = 'ANTHROPIC_BASE_URL=http://127.0.0.1:8787 ANTHROPIC_AUTH_TOKEN=$GUARD_GATEWAY_KEY claude\n'
    assert.equal(page.block('sh', 'ANTHROPIC_BASE_URL='), variables)
  })
  it('looks after the installation, and tries the Playground', async () => {
    await page.says(
      '-- doctor',
      /✓[^\n]*\n[\s\S]*✓ projects without a policy of their own: shadow, rules of default\n[\s\S]*\d+ sessions, \d+ requests/,
    )
    await page.says(
      'playground list',
      /mcp-confirm [^\n]* mcp +4\n[\s\S]*block {2}LOOP_EXACT {2}429[\s\S]*matched {2}4\/4/,
    )
  })
  it('has no block that is not run', () => page.nothingLeft())
})

describe('how to stop loops', () => {
  const page = follow('plugins/policy/FIRST-BLOCK.md')
  it('resumes a session, explains a code, lists the presets', async () => {
    const { json } = await reader.gateway.request('GET', '/api/sessions')
    assert.match(JSON.stringify(json), /my-first-session/)
    assert.match(await page.shell('/resume'), /"paused":false,.*"resumed_at":"\d/)
    await page.says('explain', /LOOP_TOOL_CALL/)
    await page.says('policy apply', /^enforce-recommended [\s\S]*^steer-recommended [\s\S]*^pause-recommended /m)
  })
  it('has no block that is not run', () => page.nothingLeft())
})

describe('how to read runs', () => {
  const page = follow('plugins/replay/GUIDE.md')
  it('lists those made so far, and records one of a program', async () => {
    await page.says('replay list', /\b[0-9a-f]{32}\b/)
    assert.match(await page.shell('examples/trace-an-agent.ts', { cwd: root }), /the run is \/replay\/[0-9a-f]{32}/)
  })
  it('has no block that is not run', () => page.nothingLeft())
})

describe('how to put tools behind a policy', () => {
  const page = follow('plugins/mcp/GUIDE.md')
  it('does what the configuration of its client says', async () => {
    const { folder } = reader
    const server = join(root, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')
    const text = page.block('json', 'mcpServers')
    const { command, args, env } = JSON.parse(
      text.replaceAll('/path/to/guard-gateway', root).replaceAll('/path/to/project', folder),
    ).mcpServers.files as { command: string; args: string[]; env: Record<string, string> }
    const at = args.indexOf('npx')
    const started = [...args.slice(0, at), process.execPath, server, ...args.slice(at + 3)]
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
    const client = new Client({ name: 'reader', version: '1' })
    const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
    const own = { PATH, NODE_COMPILE_CACHE, HOME: folder, GUARD_CONFIG: join(folder, 'guard-config.yml') }
    await client.connect(
      new StdioClientTransport({ command, args: started, env: { ...own, ...env }, cwd: folder, stderr: 'ignore' }),
    )
    const call = async (name: string, values: Record<string, string>) =>
      JSON.stringify(await client.callTool({ name, arguments: values }))
    await writeFile(join(folder, 'note.txt'), 'inside')
    assert.match(await call('read_text_file', { path: join(folder, 'note.txt') }), /inside/)
    assert.match(await call('read_text_file', { path: '/etc/passwd' }), /Denied by rule/)
    assert.match(await call('write_file', { path: join(folder, 'b.txt'), content: 'b' }), /Approval required/)
    await client.close()
  })
  it('lists who asks for approval, and validates a policy', async () => {
    await page.says('mcp approvals list', /write_file|no such|none|nothing/i)
    await page.says('mcp validate-policy', /valid/)
  })
  it('has no block that is not run', () => page.nothingLeft())
})
