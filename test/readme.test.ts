import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { parseConfig } from '../presets/default/config.ts'
import { main } from '../presets/default/main.ts'
import { type Started, startGateway } from './kit/gateway.ts'
import { fakeIo } from './kit/io.ts'
import { FakeProvider } from './kit/provider.ts'

const root = join(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const run = promisify(execFile)

const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map((match) => match[1] ?? '')

/** The block that holds a text; the README may move its blocks about, not lose them. */
const block = (language: string, part: string): string => {
  const found = blocks(language).filter((text) => text.includes(part))
  assert.equal(found.length, 1, `README.md has ${found.length} ${language} blocks with ${part}`)
  return found[0] ?? ''
}

let gateway: Started
let provider: FakeProvider
let folder: string
const seen = new Set<string>()

const here = (text: string): string => text.replaceAll('http://127.0.0.1:8787', gateway.url)

/** Runs a shell block as it stands, but for the address and the folder. */
const shell = async (part: string, cwd = folder): Promise<string> => {
  const text = block('sh', part)
  seen.add(text)
  const env = { ...process.env, GUARD_GATEWAY_KEY: gateway.key }
  return (await run('bash', ['-euc', here(text)], { cwd, env })).stdout
}

const program = async (part: string, file: string): Promise<string> => {
  const text = block('ts', part)
  seen.add(text)
  assert.equal(readFileSync(join(root, 'examples', file), 'utf8'), text, `README.md and examples/${file} differ`)
  const script = join(root, 'test', `.readme-${process.pid}-${file}`)
  await writeFile(script, here(text))
  try {
    return (await run(process.execPath, [script], { env: { ...process.env, GUARD_GATEWAY_KEY: gateway.key } })).stdout
  } finally {
    await rm(script)
  }
}

/** The words after `npm run guard --`. */
const wordsOf = (line: string): readonly string[] => {
  const words = line.trim().split(' ')
  assert.deepEqual(words.slice(0, 4), ['npm', 'run', 'guard', '--'])
  return words.slice(4)
}

const environment = () => ({ ...process.env, GUARD_CONFIG: join(folder, 'guard-config.yml'), HOME: folder })

/** What the commands of a block print with the configuration of this test, and the code of the last. */
const guardLines = async (text: string): Promise<{ readonly code: number; readonly said: string }> => {
  const io = fakeIo({ cwd: root, env: environment() })
  let code = 0
  for (const line of text.trim().split('\n')) code = await main(wordsOf(line), io)
  return { code, said: io.outText() + io.errText() }
}

/** A block of commands that end well and say this. */
const listed = async (part: string, answer: RegExp): Promise<void> => {
  const text = block('sh', part)
  seen.add(text)
  const { code, said } = await guardLines(text)
  assert.equal(code, 0, said)
  assert.match(said, answer)
}

describe('README.md', () => {
  before(async () => {
    provider = await new FakeProvider().listen()
    gateway = await startGateway({ upstream: provider.url })
    folder = await mkdtemp(join(tmpdir(), 'guard-readme-'))
    const { port } = new URL(gateway.url)
    await writeFile(
      join(folder, 'guard-config.yml'),
      `gateway_key: ${gateway.key} # the key\nserver: { port: ${port} }\n`,
    )
  })
  after(async () => {
    await gateway.close()
    await provider.close()
    await rm(folder, { recursive: true })
  })

  it('names two commands that package.json and CI know', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    for (const text of [block('sh', 'npm start'), block('sh', 'npm test')]) {
      seen.add(text)
      assert.match(text, /^npm ci && npm (start|test)\n$/)
    }
    assert.ok(scripts.start && scripts.test)
    const ci = readFileSync(join(root, '.ci/run'), 'utf8')
    assert.match(ci, /npm ci/)
    assert.match(ci, /npm test/)
  })
  it('shows an upstream that a configuration takes as it stands', async () => {
    const text = block('yaml', 'upstreams:')
    seen.add(text)
    const { config } = await parseConfig(`gateway_key: guard_0123456789abcdef\n${text}`, 'guard-config.yml', {})
    assert.deepEqual(config.upstreams[0]?.styles, ['chat_completions'])
  })
  it('shows a loop without a provider key', async () => {
    const answer = JSON.parse(await shell('/api/demo/run')) as { matched: boolean }
    assert.equal(answer.matched, true)
  })
  it('reads the key from the configuration', async () => {
    const text = block('sh', 'export GUARD_GATEWAY_KEY')
    seen.add(text)
    const { stdout } = await run('bash', ['-euc', `${text}\necho "$GUARD_GATEWAY_KEY"`], { cwd: folder })
    assert.equal(stdout.trim(), gateway.key)
  })
  it('makes a first request with curl that is answered as shown', async () => {
    const answer = await shell('Say hello')
    const shown = block('http', 'x-guard-decision: allow')
    seen.add(shown)
    for (const line of shown.trim().split('\n')) assert.ok(answer.includes(line.replace('…', '')), line)
    assert.match(answer, /Hello there/)
  })
  it('makes one with each client', async () => {
    assert.match(await program("from 'openai'", 'openai-sdk.ts'), /Hello there\./)
    assert.match(await program("from '@anthropic-ai/sdk'", 'anthropic-sdk.ts'), /Hello there\./)
  })
  it('points an agent at the gateway by variables that this agent reads', () => {
    const text = block('sh', 'ANTHROPIC_BASE_URL')
    seen.add(text)
    assert.match(
      text,
      /^ANTHROPIC_BASE_URL=http:\/\/127\.0\.0\.1:8787 ANTHROPIC_AUTH_TOKEN=\$GUARD_GATEWAY_KEY claude\n$/,
    )
  })
  it('shows a block as it is, and the way out of it', async () => {
    await shell('-X PUT')
    const ask = () => shell('stuck-agent', root)
    const blocked = await ask()
    const head = block('http', '429')
    seen.add(head)
    for (const line of head.trim().split('\n')) assert.ok(blocked.includes(line), line)
    const shown = block('json', 'guard_block')
    seen.add(shown)
    const body = JSON.parse(blocked.slice(blocked.indexOf('{'))) as { error: { session_id: string } }
    body.error.session_id = 'ses_…'
    assert.deepEqual(body, JSON.parse(shown))
    await shell('/resume')
    assert.match(await ask(), /HTTP\/1\.1 200 OK/)
  })
  it('lists the runs of the requests made so far, and the presets', async () => {
    await listed('replay list', /\b[0-9a-f]{32}\b/)
    await listed('policy apply', /^enforce-recommended [\s\S]*^steer-recommended [\s\S]*^pause-recommended /m)
  })
  it('runs an example', async () => {
    const text = block('sh', 'examples/trace-an-agent.ts')
    seen.add(text)
    const env = { ...process.env, GUARD_URL: gateway.url, GUARD_GATEWAY_KEY: gateway.key }
    const { stdout } = await run('bash', ['-euc', text], { cwd: root, env })
    assert.match(stdout, /the run is \/replay\/[0-9a-f]{32}/)
  })
  it('puts a policy in front of an MCP server as its client configuration says', async () => {
    const text = block('json', 'mcpServers')
    seen.add(text)
    const server = join(root, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')
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
    const read = (path: string) => client.callTool({ name: 'read_text_file', arguments: { path } })
    await writeFile(join(folder, 'note.txt'), 'inside')
    assert.match(JSON.stringify(await read(join(folder, 'note.txt'))), /inside/)
    assert.match(JSON.stringify(await read('/etc/passwd')), /Denied by rule/)
    const asked = await client.callTool({
      name: 'write_file',
      arguments: { path: join(folder, 'b.txt'), content: 'b' },
    })
    assert.match(JSON.stringify(asked), /Approval required/)
    await client.close()
  })
  it('lists who asks for approval, and validates a policy', async () => {
    await listed('mcp approvals list', /write_file|no such|none|nothing/i)
    await listed('mcp validate-policy', /valid/)
  })
  it('connects an agent, and leaves nothing behind', async () => {
    const text = block('sh', 'run -- claude')
    seen.add(text)
    const agent = join(folder, 'bin/claude')
    await mkdir(join(folder, 'bin'))
    await writeFile(agent, '#!/bin/sh\necho "talks to $ANTHROPIC_BASE_URL $*"\n', { mode: 0o755 })
    const before = readdirSync(root)
    const bin = join(root, 'presets/default/bin.js')
    const env = { ...environment(), PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
    // a process of its own, as the agent writes where it does
    const { stdout } = await run(process.execPath, ['--conditions=guard-source', bin, ...wordsOf(text)], {
      cwd: root,
      env,
    })
    assert.match(stdout, /talks to [^\n]*http:\/\/127/)
    const profile = block('sh', 'setup claude-code --print')
    seen.add(profile)
    assert.match((await guardLines(profile)).said, /ANTHROPIC_BASE_URL/)
    assert.deepEqual(readdirSync(root), before)
  })
  it('looks after the installation, and tries the Playground', async () => {
    for (const [part, answer] of [
      [
        '-- doctor',
        /✓[^\n]*\n[\s\S]*✓ projects without a policy of their own: shadow, rules of default\n[\s\S]*\d+ sessions, \d+ requests/,
      ],
      ['playground list', /mcp-confirm [^\n]* mcp +4\n[\s\S]*block {2}LOOP_EXACT {2}429[\s\S]*matched {2}4\/4/],
    ] as const) {
      const text = block('sh', part)
      seen.add(text)
      assert.match((await guardLines(text)).said, answer)
    }
  })
  it('explains a code', async () => {
    const text = block('sh', 'explain')
    seen.add(text)
    const { stdout } = await run('npm', ['run', '-s', 'guard', '--', ...wordsOf(text)], { cwd: root })
    assert.match(stdout, /LOOP_TOOL_CALL/)
  })
  it('has no block that is not run, and no link that leads nowhere', () => {
    for (const text of blocks('\\w+')) assert.ok(seen.has(text), `not run:\n${text}`)
    for (const [, target = ''] of readme.matchAll(/\]\((?!https?:)([^)#]+)/g))
      assert.ok(existsSync(join(root, target)), target)
  })
})
