import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { appendFile, mkdir, mkdtemp, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { initialize } from '../../../kit/mcp.ts'
import { mcpRun } from '../../../kit/mcp-run.ts'
import { called, healthOf, sent, startAudited, until } from './kit.ts'

const SECRET = 'a secret argument of the call'
const POLICY = `version: 1
default: allow
rules:
  - { id: no, tools: [delete_file], action: deny }
  - { id: ask, tools: [write_file], action: confirm }
`

interface Line {
  readonly type: string
  readonly id: string
  readonly kind: string
  readonly name: string
  readonly tool: string | null
  readonly action: string | null
  readonly outcome: string | null
  readonly forwarded: boolean | null
}

describe('audit records in a file', () => {
  const linesOf = async (file: string): Promise<readonly Line[]> => {
    const text = await readFile(file, 'utf8')
    assert.ok(text === '' || text.endsWith('\n'))
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line)
  }

  /** Until the call of a tool is on a line. */
  const lineOf = (file: string, tool: string): Promise<Line> =>
    until(async () => (await linesOf(file).catch(() => [])).find((line) => line.tool === tool))

  it('come one a line, complete, and never with arguments', async () => {
    await using service = await startAudited('{ file: audit.jsonl }', POLICY)
    const file = join(service.folder, 'audit.jsonl')
    const client = await service.session()
    await called(client, 'read_file', { path: SECRET })
    await called(client, 'delete_file', { path: SECRET })
    await called(client, 'write_file', { path: SECRET })
    await client.fetch('DELETE')
    // three calls, initialize as a request, and the end of the session with its question
    await sent(service, 5)
    const lines = await linesOf(file)
    const decisions = lines.filter(({ kind }) => kind === 'decision')
    assert.deepEqual(
      decisions
        .map(({ type, name, tool, action, forwarded, outcome }) => [type, name, tool, action, forwarded, outcome])
        .sort(),
      [
        ['event', 'policy.decision', 'delete_file', 'deny', false, 'none'],
        ['event', 'policy.decision', 'read_file', 'allow', true, 'ok'],
        ['event', 'policy.decision', 'write_file', 'confirm', false, 'none'],
      ],
    )
    assert.ok(lines.some(({ name }) => name === 'session.ended'))
    assert.ok(!(await readFile(file, 'utf8')).includes(SECRET))
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    const exported = await service.gateway.request('GET', '/api/v1/mcp/export?format=jsonl&kind=decision')
    const one = exported.text.split('\n').find((line) => line.includes(`"id":"${decisions[0]?.id}"`))
    assert.deepEqual(JSON.parse(one ?? '{}'), decisions[0])
  })

  it('go on in a new file where another program moves the old one away, or empties it', async () => {
    await using service = await startAudited('{ file: audit.jsonl }')
    const file = join(service.folder, 'audit.jsonl')
    const client = await service.session()
    await called(client, 'read_file')
    await lineOf(file, 'read_file')
    await rename(file, `${file}.1`)
    await called(client, 'write_file')
    await lineOf(file, 'write_file')
    assert.deepEqual((await linesOf(file)).map(({ tool }) => tool).filter(Boolean), ['write_file'])
    assert.ok((await linesOf(`${file}.1`)).some(({ tool }) => tool === 'read_file'))
    await truncate(file)
    await called(client, 'delete_file')
    await lineOf(file, 'delete_file')
    assert.deepEqual((await linesOf(file)).map(({ tool }) => tool).filter(Boolean), ['delete_file'])
  })

  it('are appended to what is there', async () => {
    await using service = await startAudited('{ file: audit.jsonl }')
    const file = join(service.folder, 'audit.jsonl')
    await appendFile(file, '{"kind":"mine"}\n')
    await called(await service.session(), 'read_file')
    await lineOf(file, 'read_file')
    assert.equal((await linesOf(file))[0]?.kind, 'mine')
  })

  it('that cannot be written stop no call; that is said once and counted, and they come later', async () => {
    await using service = await startAudited('{ file: logs/audit.jsonl }')
    const client = await service.session()
    await called(client, 'read_file')
    const [failing] = await until(async () => {
      const health = await healthOf(service)
      return health[0]?.last_error != null && health
    })
    assert.match(
      String(failing?.last_error?.message),
      /logs\/audit\.jsonl: The file cannot be written: its folder is not there\.$/,
    )
    await called(client, 'write_file')
    await mkdir(join(service.folder, 'logs'))
    await lineOf(join(service.folder, 'logs/audit.jsonl'), 'write_file')
    assert.equal(
      (await linesOf(join(service.folder, 'logs/audit.jsonl'))).filter(({ tool }) => tool !== null).length,
      2,
    )
  })

  it('go to a full disk and are said to', { skip: process.platform !== 'linux' && 'needs /dev/full' }, async () => {
    await using service = await startAudited('{ file: /dev/full, max_queue: 2 }')
    const client = await service.session()
    for (let made = 0; made < 4; made++) await called(client, 'read_file')
    const health = await until(async () => {
      const [first] = await healthOf(service)
      return first?.last_error != null && first
    })
    assert.match(String(health.last_error?.message), /no space is left on its disk/)
    for (let made = 0; made < 4; made++) await called(client, 'read_file')
    const full = await until(async () => {
      const [first] = await healthOf(service)
      return (first?.dropped ?? 0) > 0 && first
    })
    assert.equal(full.sent, 0)
    const { text } = await service.gateway.request('GET', '/metrics')
    assert.match(text, /guard_audit_push_records_total\{receiver="\/dev\/full",outcome="dropped"\} [1-9]/)
  })

  it('leave no half line where a disk is full in the middle of one', {
    skip: process.platform === 'win32',
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'guard-audit-'))
    const file = join(folder, 'audit.jsonl')
    const child = join(import.meta.dirname, 'bounded-child.ts')
    // blocks of 512 bytes by POSIX, of 1,024 where the shell is Bash
    const bounded = ['-c', 'ulimit -f 2; exec "$@"', 'sh', process.execPath, '--conditions=guard-source', child, file]
    const { stdout } = await promisify(execFile)('/bin/sh', bounded, { env: { PATH: process.env.PATH } })
    const { lines, said, counts } = JSON.parse(stdout)
    assert.deepEqual(lines, ['"a', '"c', ''])
    assert.deepEqual(counts, { sent: 2, dropped: 1, failed: 0 })
    assert.match(
      said[0],
      /^Audit records were not accepted\. .*audit\.jsonl: The file cannot be written: no file may be larger\.$/,
    )
    await rm(folder, { recursive: true })
  })

  it('of guard mcp run come from its own process', async () => {
    const run = await mcpRun({ config: 'mcp: { audit_export: [{ file: audit.jsonl }] }' })
    const call = (id: number, method: string, params: object) =>
      run.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    call(1, 'initialize', initialize().params)
    await run.next()
    call(2, 'tools/call', { name: 'echo', arguments: {} })
    await run.next()
    run.end()
    await run.code
    assert.ok((await linesOf(join(run.folder, 'audit.jsonl'))).some(({ tool }) => tool === 'echo'))
    await run.close()
  })

  it('are those of the projects that the place names', async () => {
    await using service = await startAudited('{ file: all.jsonl }, { file: shop.jsonl, projects: [shop] }')
    await called(await service.session({ 'x-guard-project-id': 'shop' }), 'read_file')
    await called(await service.session(), 'write_file')
    await until(async () => {
      const [all, shop] = await healthOf(service)
      return (all?.sent ?? 0) >= 2 && (shop?.sent ?? 0) >= 1
    })
    const tools = async (name: string) =>
      (await linesOf(join(service.folder, name))).flatMap(({ tool }) => tool ?? []).sort()
    assert.deepEqual(await tools('all.jsonl'), ['read_file', 'write_file'])
    assert.deepEqual(await tools('shop.jsonl'), ['read_file'])
  })

  it('are written before the gateway ends', async () => {
    const service = await startAudited('{ file: audit.jsonl }')
    const file = join(service.folder, 'kept.jsonl')
    await writeFile(join(service.folder, 'audit.jsonl'), '')
    await called(await service.session(), 'read_file')
    await service.gateway.close()
    await rename(join(service.folder, 'audit.jsonl'), file)
    assert.ok((await linesOf(file)).some(({ tool, outcome }) => tool === 'read_file' && outcome === 'ok'))
    await service.upstream.close()
  })
})
