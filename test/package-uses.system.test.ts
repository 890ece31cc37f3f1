import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { Installation, type InstalledGateway, member } from './foreign-plugins/installed-gateway.ts'
import { allDialects as dialects } from './kit/dialogue.ts'
import { recording } from './kit/import-files.ts'
import { sdkClient } from './kit/mcp-sdk.ts'
import { needsPostgres, newDatabase } from './kit/postgres.ts'
import { fakeProvider } from './kit/provider.ts'
import { socketClient } from './kit/socket-client.ts'
import { socketProvider } from './kit/socket-provider.ts'
import { sseMcpServer } from './kit/sse-mcp-server.ts'
import { type PackedPackage, packPackage } from './packed-package.ts'

const styles = dialects.map(({ style }) => style)

/** Files of other programs, by the format that reads them. */
const files: Readonly<Record<string, string>> = {
  claude_code: recording('session-files/claude-code/work'),
  codex: recording('session-files/codex/work'),
  gemini_cli: recording('session-files/gemini/work'),
  otlp_lines: readFileSync(join(import.meta.dirname, 'data/trace-files/collector.jsonl'), 'utf8'),
  zipkin: readFileSync(join(import.meta.dirname, 'data/trace-files/zipkin.json'), 'utf8'),
  jaeger: JSON.stringify({
    data: [
      {
        traceID: 'ab'.repeat(16),
        processes: { p1: { serviceName: 'shop' } },
        spans: [
          {
            traceID: 'ab'.repeat(16),
            spanID: 'ab'.repeat(8),
            operationName: 'fix',
            processID: 'p1',
            startTime: 1_767_225_600_000_000,
            duration: 5,
            tags: [],
            references: [],
          },
        ],
      },
    ],
  }),
  langfuse: JSON.stringify({
    id: 'cd'.repeat(16),
    timestamp: '2026-01-01T00:00:00.000Z',
    name: 'Fix',
    observations: [
      {
        id: '1111111111111111',
        traceId: 'cd'.repeat(16),
        type: 'SPAN',
        name: 'fix',
        startTime: '2026-01-01T00:00:00.000Z',
        endTime: '2026-01-01T00:00:01.500Z',
        parentObservationId: null,
        level: 'DEFAULT',
      },
    ],
  }),
}

describe('what the published package is used for', { timeout: 240_000 }, () => {
  let packed: PackedPackage
  let installation: Installation
  const opened = new AsyncDisposableStack()
  before(async () => {
    packed = await packPackage()
    opened.defer(() => packed.remove())
    installation = new Installation(packed, opened.use(await fakeProvider()).url)
    opened.defer(() => installation.end())
  })
  after(() => opened.disposeAsync())

  const usedOn = async (storage: string, lines: readonly string[] = [], ...others: readonly string[]) => {
    const gateway = await installation.start(styles, [`storage: ${storage}`, ...lines], ...others)
    for (const dialect of dialects) {
      const headers = { 'x-guard-session-id': dialect.style }
      const answer = await gateway.ask('POST', dialect.path, dialect.body([{ user: 'hi' }]), headers)
      assert.deepEqual([answer.status, answer.headers.get('x-guard-decision')], [200, 'allow'], answer.text)
    }
    assert.equal(member(await gateway.ask('GET', '/api/health'), 'status'), 'ok', gateway.said())
    return gateway
  }
  const requestsOf = async ({ ask }: InstalledGateway) =>
    Promise.all(styles.map(async (style) => member(await ask('GET', `/api/sessions/${style}`), 'session', 'requests')))

  it('guards each dialect with records in memory', async () => {
    assert.equal(await (await usedOn('{ backend: memory }')).stop(), 0)
  })

  it(
    'guards each dialect with records in PostgreSQL, which are copied from SQLite and back',
    needsPostgres,
    async () => {
      const [one, other] = [await newDatabase(), await newDatabase()]
      assert.equal(await (await usedOn(`{ backend: postgres, url: "${one}" }`)).stop(), 0)
      assert.equal(await (await usedOn('{ file: first.db }')).stop(), 0)
      for (const [from, to] of [
        ['first.db', other],
        [other, 'second.db'],
      ] as const) {
        const { code, err } = await installation.guard('storage', 'copy', '--from', from, '--to', to)
        assert.equal(code, 0, err)
      }
      const again = await usedOn('{ file: second.db }')
      assert.deepEqual(await requestsOf(again), [2, 2, 2, 2, 2])
      assert.equal(await again.stop(), 0)
    },
  )

  describe('on SQLite', () => {
    let gateway: InstalledGateway
    const told: string[] = []
    before(async () => {
      const { bin, program, project } = packed
      const receiver = opened.use(await fakeProvider())
      const sockets = await socketProvider()
      opened.defer(() => sockets.close())
      const server = () => {
        const old = new McpServer({ name: 'old', version: '1' })
        old.registerTool('hello', {}, async () => ({ content: [{ type: 'text', text: 'hello' }] }))
        return old
      }
      const sse = opened.use(await sseMcpServer(server))
      const http = spawn(program, [bin, 'mcp', 'test-server', '--port', '0'], { cwd: project, env: packed.env })
      opened.defer(() => void http.kill())
      const [line] = (await once(http.stderr, 'data')) as [Buffer]
      const target = /http:\S+/.exec(String(line))?.[0] ?? ''
      await writeFile(join(project, 'policy.yml'), 'version: 1\ndefault: allow\nrules: []\n')
      await writeFile(
        join(project, 'tell.mjs'),
        "import { writeFileSync } from 'node:fs'\nwriteFileSync('told.txt', 'told')\n",
      )
      const child = { transport: 'stdio', command: program, args: [bin, 'mcp', 'test-server', '--transport', 'stdio'] }
      const receivers = {
        hook: { notifier: 'webhook', url: receiver.url, secret: `whsec_${Buffer.alloc(24, 7).toString('base64')}` },
        slack: { notifier: 'slack', url: `${receiver.url}/slack` },
        phone: { notifier: 'ntfy', url: `${receiver.url}/topic` },
        desk: { notifier: 'command', command: [program, join(project, 'tell.mjs')] },
      }
      told.push(...Object.keys(receivers))
      gateway = await usedOn(
        '{ file: guard.db }',
        [
          `notify: ${JSON.stringify({ receivers })}`,
          `mcp: ${JSON.stringify({ policy: 'policy.yml', servers: { child, http: { transport: 'http', target }, sse: { transport: 'sse', target: sse.url } } })}`,
        ],
        `{ name: sockets, base_url: "${sockets.url}", styles: [responses], websocket: "on", api_key: k }`,
      )
    })
    after(async () => {
      assert.equal(await gateway.stop(), 0, gateway.said())
    })

    it('carries the Responses API over WebSocket', async () => {
      using client = await socketClient(gateway)
      client.create('hi')
      assert.equal((await client.end()).type, 'response.completed')
    })
    it('reaches MCP servers over each transport, and serves clients over HTTP and stdio', async () => {
      const { bin, program, project } = packed
      const run = ['mcp', 'run', '--server-id', 'child', '--policy', 'policy.yml']
      const stdio = [bin, ...run, '--', program, bin, 'mcp', 'test-server', '--transport', 'stdio']
      for (const way of [
        ...['child', 'http', 'sse'].map((name) => ({ url: `${gateway.url}/mcp/${name}`, key: gateway.key })),
        { command: program, args: stdio, cwd: project },
      ]) {
        const client = await sdkClient('v1', way)
        const tools = await client.list()
        const name = tools.includes('hello') ? 'hello' : 'echo'
        const { content } = await client.call(name, name === 'echo' ? { text: 'hello' } : {})
        assert.match(JSON.stringify(content), /hello/, tools.join(' '))
        await client.close()
      }
    })
    it('notifies receivers of each kind', async () => {
      const { json } = await gateway.ask('POST', '/api/notify/test', {})
      const { results } = json as { results: readonly { receiver: string; outcome: string; error: string | null }[] }
      assert.deepEqual(
        results.map(({ receiver, outcome, error }) => [receiver, outcome, error]).sort(),
        told.map((name) => [name, 'delivered', null]).sort(),
      )
    })
    it('plays a scenario, and shows its pages', async () => {
      const begun = await gateway.ask('POST', '/api/v1/playground/runs', { scenario: 'exact-loop' })
      assert.equal(begun.status, 202, begun.text)
      let run = begun
      while (/queued|running/.test(String(member(run, 'status'))))
        run = await gateway.ask('GET', `/api/v1/playground/runs/${member(begun, 'id')}`)
      assert.deepEqual([member(run, 'status'), member(run, 'matched')], ['completed', true], run.text)
      for (const path of [
        '/',
        '/sessions',
        '/replay',
        '/playground',
        '/docs',
        '/docs/guide',
        '/openapi.json',
        '/metrics',
      ]) {
        const page = await gateway.ask('GET', path, undefined, { accept: 'text/html, */*' })
        assert.equal(page.status, 200, `${path}: ${page.text}`)
      }
    })
    it('exports a run in each format and takes it back', async () => {
      const { headers } = await gateway.ask(
        'POST',
        '/v1/messages',
        dialects.find(({ style }) => style === 'messages')?.body([{ user: 'export' }]),
      )
      const id = headers.get('x-guard-trace-id')
      for (const format of ['json', 'jsonl', 'otel']) {
        const { status, text } = await gateway.ask('GET', `/api/v1/runs/${id}/export?format=${format}`)
        assert.equal(status, 200, text)
        await imported(text, format)
      }
    })
    for (const [format, text] of Object.entries(files)) it(`imports ${format}`, () => imported(text, format))

    const imported = async (text: string, format: string): Promise<void> => {
      const answer = await fetch(`${gateway.url}/api/v1/runs/import`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/octet-stream' },
        body: text,
      })
      const told = await answer.text()
      assert.ok(
        answer.ok && (JSON.parse(told) as { imported: readonly unknown[] }).imported.length > 0,
        `${format}: ${told}`,
      )
    }
  })
})
