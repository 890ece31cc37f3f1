import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable, Writable } from 'node:stream'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { type Code, type ErrorBody, GuardError } from 'guard-gateway/core'
import { commandKind } from '#lib/command'
import { parse } from '../../../../plugins/cli/parse.ts'
import { approvalStates } from '../../../../plugins/mcp/approvals/tables.ts'
import type { UseApi } from '../../../../plugins/mcp/management/command-context.ts'
import { exportAudit } from '../../../../plugins/mcp/management/command-export.ts'
import { mcpCommands } from '../../../../plugins/mcp/management/commands.ts'
import { type FakeIo, fakeIo } from '../../../kit/io.ts'
import { callNeedingConsent, withFolder } from '../audit/records-kit.ts'
import { type Bench, startApi } from './kit.ts'

let api: Bench

/** Asks the API of the test as the command line asks the gateway's. */
const asking: UseApi = (work) =>
  work(async (method, path, body, headers) => {
    const sent = typeof body === 'string' ? JSON.parse(body) : undefined
    const answer = await api.send(method, path.replace('/api/v1/mcp', ''), sent, { ...headers })
    if (answer.status < 400) return Readable.from([answer.text])
    const { error } = answer.body as { readonly error: ErrorBody }
    throw new GuardError(error.code as Code, error.message)
  })

/** Runs `guard mcp …` as it is typed. */
const run = async (io: FakeIo, ...argv: readonly string[]): Promise<number> => {
  const commands = [...api.gateway.registry(commandKind)]
  const parsed = parse(commands, ['mcp', ...argv])
  assert.ok(parsed.kind === 'run', JSON.stringify(parsed))
  return parsed.command.run(parsed.input, io)
}
const guard = async (...argv: readonly string[]) => {
  const io = fakeIo()
  const code = await run(io, ...argv)
  return { code, out: io.outText(), err: io.errText() }
}

const start = async (approver_key?: string): Promise<void> => {
  const mcp = { name: 'mcp', apply: () => {} }
  api = await startApi({ plugins: [mcp, mcpCommands(asking)], ...(approver_key === undefined ? {} : { approver_key }) })
}
const stop = async (): Promise<void> => {
  await api.close()
  assert.deepEqual(api.faults, [])
}
const usage = { code: 'USAGE' }

describe('guard mcp approvals', () => {
  beforeEach(() => start())
  afterEach(stop)

  it('lets shells complete the statuses and formats that the API takes', async () => {
    const { choices = {} } = api.gateway.registry(commandKind).need('mcp approvals')
    assert.deepEqual(choices['--status'], approvalStates)
    const { choices: formats = {} } = api.gateway.registry(commandKind).need('mcp export')
    for (const format of formats['--format'] ?? []) assert.equal((await guard('export', '--format', format)).code, 0)
  })
  it('list shows what somebody must know who decides, also what no terminal draws', async () => {
    const finding = { rule_id: 'r1', check: 'size', pointer: '/path', reason: 'is long', certain: true }
    const question = { message: 'Only \u001b[31mtext\tand this', findings: [finding], sent: { path: 'b\u200b' } }
    const { approval } = await callNeedingConsent(api, { args: { path: 'out/\u202egpj.sh' }, question })
    const { code, out } = await guard('approvals', 'list', '--status', 'pending')
    assert.equal(code, 0)
    assert.deepEqual(out.trimEnd().split('\n'), [
      'call              status   asked                client  id',
      `write_file on fs  pending  2026-01-01 00:00:00  client  ${approval.id}`,
      '  asked by r1  until 2026-01-01T00:05:00.000Z',
      '  Only U+001B[31mtext and this',
      '  /path is long',
      '  arguments {"path":"out/U+202Egpj.sh"}',
      '  forwarded as {"path":"bU+200B"}',
    ])
    const json = JSON.parse((await guard('approvals', 'list', '--json')).out)
    assert.deepEqual([json.approvals.length, json.next_cursor], [1, null])
    assert.match((await guard('approvals', 'list', '--status', 'denied')).err, /no such approvals/)
  })
  it('show prints arguments to their end, and the words of the server as such; undo takes back', async () => {
    const tool_says = { title: null, description: 'Safe\u202e!', annotations: { readOnlyHint: true } }
    const args = { content: `${'a'.repeat(3_000)}MIDDLE\u001b[2J${'b'.repeat(3_000)}` }
    const { approval } = await callNeedingConsent(api, { args, question: { tool_says } })
    const { out } = await guard('approvals', 'show', approval.id)
    assert.ok(out.includes(`${'a'.repeat(3_000)}MIDDLE\\u001b[2J${'b'.repeat(3_000)}`))
    assert.match(out, /the server says, unchecked: SafeU\+202E!\n {2}the server says, unchecked: readOnlyHint: true\n/)
    assert.doesNotMatch((await guard('approvals', 'list')).out, /MIDDLE/)
    await assert.rejects(guard('approvals', 'allow', approval.id, '--argument-hash', 'c45a'.repeat(4)), {
      code: 'VERSION_CONFLICT',
    })
    await guard('approvals', 'allow', approval.id, '--argument-hash', approval.argument_hash)
    assert.match((await guard('approvals', 'undo', approval.id)).out, /pending/)
    await assert.rejects(guard('approvals', 'undo', approval.id), { code: 'APPROVAL_DECIDED' })
  })
  it('allow and deny decide, and say the status where they cannot', async () => {
    const first = await callNeedingConsent(api)
    const { out } = await guard('approvals', 'allow', first.approval.id, '--scope', 'session', '--reason', 'fine')
    assert.match(out, /^apr_\S+ {2}allowed session {2}write_file on fs/)
    const row = await api.gateway.storage.get('mcp_approvals', first.approval.id)
    assert.deepEqual([row?.decided_via, row?.reason, row?.scope], ['cli', 'fine', 'session'])
    await assert.rejects(guard('approvals', 'deny', first.approval.id), { code: 'APPROVAL_DECIDED' })
    const second = await callNeedingConsent(api, { args: { b: 1 } })
    assert.match((await guard('approvals', 'deny', second.approval.id)).out, /denied/)
    await assert.rejects(guard('approvals', 'allow', 'apr_nobody'), { code: 'APPROVAL_NOT_FOUND' })
  })
  it('take nothing else', async () => {
    for (const argv of [['approve'], ['allow'], ['list', 'x'], ['toString']])
      await assert.rejects(guard('approvals', ...argv), usage, argv.join(' '))
  })
  it('watch asks on a terminal and takes the answer', { timeout: 60_000 }, async () => {
    const first = await callNeedingConsent(api)
    const typed = Object.assign(new PassThrough(), { isTTY: true })
    const io = { ...fakeIo(), in: typed }
    const watching = run(io, 'approvals', 'watch')
    await io.errHolds('[i]gnore? ')
    typed.write('x\n')
    await io.errHolds('[i]gnore? [a]llow once')
    typed.write('a\n')
    await io.errHolds(`${first.approval.id} allowed`)
    assert.match(io.outText(), /write_file on fs/)
    const long = await callNeedingConsent(api, { args: { text: `${'a'.repeat(900)}MIDDLE${'b'.repeat(900)}` } })
    await io.errHolds('Not all of the arguments is shown. [r]ead all')
    assert.doesNotMatch(io.outText(), /MIDDLE/)
    typed.write('r\n')
    while (!io.outText().includes('MIDDLE')) await new Promise(setImmediate)
    await io.errHolds('[i]gnore? Not all')
    typed.write('d\n')
    await io.errHolds('Why?')
    typed.write('not that one\n')
    await io.errHolds(`${long.approval.id} denied`)
    assert.equal((await api.gateway.storage.get('mcp_approvals', long.approval.id))?.reason, 'not that one')
    typed.end()
    assert.equal(await watching, 130)
  })
  it('watch ends well when nobody reads it any more', { timeout: 60_000 }, async () => {
    const io = fakeIo()
    const watching = run(io, 'approvals', 'watch')
    while (io.out.listenerCount('error') === 0) await new Promise(setImmediate)
    io.out.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    assert.equal(await watching, 0)
    assert.equal(io.out.listenerCount('error'), 0)
  })
  it('watch prints one line of JSON each where a program reads', { timeout: 60_000 }, async () => {
    const { approval } = await callNeedingConsent(api)
    const io = fakeIo()
    const watching = run(io, 'approvals', 'watch', '--json')
    while (io.outText() === '') await new Promise(setImmediate)
    assert.equal(JSON.parse(io.outText()).id, approval.id)
    process.emit('SIGINT')
    assert.equal(await watching, 130)
  })
})

describe('guard mcp approvals watch', () => {
  it('continues where somebody else was quicker, and asks nothing where questions are ignored', {
    timeout: 60_000,
  }, async () => {
    await start()
    const first = await callNeedingConsent(api)
    const second = await callNeedingConsent(api, { args: { b: 1 } })
    const typed = Object.assign(new PassThrough(), { isTTY: true })
    const io = { ...fakeIo(), in: typed }
    const watching = run(io, 'approvals', 'watch')
    await io.errHolds('[i]gnore? ')
    await guard('approvals', 'deny', first.approval.id)
    typed.write('s\n')
    await io.errHolds(`${first.approval.id} is denied already`)
    await io.errHolds('call asks anew.\n[a]llow once')
    typed.write('i\n')
    typed.end()
    assert.equal(await watching, 130)
    assert.equal((await api.gateway.storage.get('mcp_approvals', second.approval.id))?.status, 'pending')
    await stop()
  })
})

describe('the approver key on the command line', () => {
  it('comes from the flag or the environment', async () => {
    await start('only-a-person-knows')
    const { approval } = await callNeedingConsent(api)
    await assert.rejects(guard('approvals', 'allow', approval.id), { code: 'APPROVER_KEY_REQUIRED' })
    await assert.rejects(guard('pins', 'accept', 'fs', '--all'), { code: 'APPROVER_KEY_REQUIRED' })
    assert.equal(
      await run(fakeIo({ env: { GUARD_APPROVER_KEY: 'only-a-person-knows' } }), 'pins', 'accept', 'fs', '--all'),
      0,
    )
    const { code } = await guard('approvals', 'allow', approval.id, '--approver-key', 'only-a-person-knows')
    assert.equal(code, 0)
    await stop()
  })
})

describe('guard mcp pins and export', () => {
  beforeEach(() => start())
  afterEach(stop)

  it('pins list names what is not as it was trusted, accept trusts it', async () => {
    assert.equal(
      (await guard('pins', 'list')).out,
      'tool       server  pin      fingerprint\nread_file  fs      changed  f1\n    - description: Reads.\n    + description: ReadsU+001B[2J all.\n',
    )
    assert.equal((await guard('pins', 'accept', 'fs', 'read_file')).out, 'trusted  read_file\n')
    assert.equal((await guard('pins', 'accept', 'fs', '--all')).code, 0)
    const [one, two] = ['0123456789abcdef', 'fedcba9876543210'] as const
    await guard('pins', 'accept', 'fs', 'read_file', '--fingerprint', one)
    await guard('pins', 'accept', 'fs', '--all', '--fingerprint', one, '--fingerprint', two)
    assert.deepEqual(api.accepted, [
      ['fs', ['read_file']],
      ['fs', 'all'],
      ['fs', ['read_file'], one],
      ['fs', 'all', one, two],
    ])
    await assert.rejects(guard('pins', 'accept', 'fs'), usage)
    await assert.rejects(guard('pins', 'accept', 'fs', 'read_file', '--all'), usage)
    await assert.rejects(guard('pins', 'accept', 'db', '--all'), { code: 'MCP_SERVER_NOT_FOUND' })
  })
  it('export writes to stdout or to a file of its own, readable by its owner alone', () =>
    withFolder(async (cwd) => {
      await callNeedingConsent(api)
      assert.equal(JSON.parse((await guard('export')).out).schema, 'mcp-audit.v1')
      const io = fakeIo({ cwd })
      assert.equal(await run(io, 'export', '--format', 'jsonl', '--output', 'audit.jsonl', '--server-id', 'fs'), 0)
      assert.equal(io.errText(), 'wrote audit.jsonl\n')
      assert.match(readFileSync(join(cwd, 'audit.jsonl'), 'utf8'), /^\{"type":"bundle"/)
      await assert.rejects(run(io, 'export', '--output', 'audit.jsonl'), usage)
      assert.equal(await run(io, 'export', '--output', 'audit.jsonl', '--force', '--quiet'), 0)
      await assert.rejects(run(io, 'export', '--since', 'lately'), { code: 'INVALID_FILTER' })
      await assert.rejects(run(io, 'export', '--output', 'no/such/folder.json'), usage)
    }))
  it('export is written as fast as its reader takes it', async () => {
    let asked = 0
    const pieces = function* () {
      for (; asked < 100; asked++) yield 'piece'
    }
    const ask = async () => Readable.from(pieces(), { highWaterMark: 1 })
    const out = new Writable({ highWaterMark: 1, write: () => {} })
    const exporting = exportAudit({ ask, input: { args: [], options: {}, rest: [] }, io: { ...fakeIo(), out }, now: 0 })
    await new Promise(setImmediate)
    assert.ok(asked < 5, `${asked} pieces wait for a reader`)
    out.on('error', () => {})
    out.destroy(Object.assign(new Error('the reader has left'), { code: 'EPIPE' }))
    assert.equal(await exporting, 0)
  })
})
