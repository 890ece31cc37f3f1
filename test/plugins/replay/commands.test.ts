import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { main } from '../../../presets/default/main.ts'
import { type Started, startGateway } from '../../kit/gateway.ts'
import { fakeIo } from '../../kit/io.ts'

const KEY = 'gateway_key: guard_test_key_that_is_long_enough\n'
const trace = {
  trace_id: 'run-1',
  name: 'fix\n\u001b[31mbug',
  status: 'error',
  failure_tag: 'timeout',
  start_ns: '1782000000000000000',
  end_ns: '1782000012400000000',
  spans: [{ id: 's1', name: 'tool.call', start_ns: '1782000000123456789', end_ns: '1782000000123456999' }],
}

const ingest = async (gateway: Started): Promise<void> => {
  const { status, text } = await gateway.request('POST', '/api/v1/traces', trace)
  assert.equal(status, 201, text)
}

const guard = async (cwd: string, ...argv: readonly string[]) => {
  const io = fakeIo({ cwd, env: { OPENAI_API_KEY: 'sk-openai' } })
  const code = await main(['replay', ...argv], io)
  return { code, out: io.outText(), err: io.errText() }
}
/** Imports standard input. */
const piped = async (cwd: string, content: string, ...argv: readonly string[]) => {
  const io = { ...fakeIo({ cwd, env: { OPENAI_API_KEY: 'sk-openai' } }), in: Readable.from([Buffer.from(content)]) }
  const code = await main(['replay', 'import', '-', ...argv], io)
  return { code, out: io.outText(), err: io.errText() }
}
const configure = (folder: string, { url }: Started, storage: string): Promise<void> => {
  const text = `${KEY}server: { port: ${new URL(url).port} }\nstorage: { ${storage} }\n`
  return writeFile(join(folder, 'guard-config.yml'), text, { mode: 0o600 })
}

describe('replay commands query the running gateway', () => {
  let cwd = ''
  let gateway: Started
  before(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'guard-commands-'))
    gateway = await startGateway()
    await ingest(gateway)
    await configure(cwd, gateway, 'backend: memory')
  })
  after(async () => {
    await gateway.close()
    await rm(cwd, { recursive: true, force: true })
  })
  const replay = (...argv: readonly string[]) => guard(cwd, ...argv)

  it('list: prints a heading and one line per run, without control characters, or the response with --json', async () => {
    const { code, out } = await replay('list')
    assert.equal(code, 0)
    assert.match(
      out,
      /^run +agent +result .+\nfix bug +timeout +12\.4s +0 +0 +2026-06-2\d \d\d:\d\d:\d\d +\S+ +run-1\n$/,
    )
    assert.equal(out.includes('\u001b'), false)
    const json = JSON.parse((await replay('list', '--json')).out)
    assert.deepEqual([json.runs.length, json.next_cursor], [1, null])
  })
  it('list: filters, and reports an empty result', async () => {
    assert.match((await replay('list', '--status', 'ok')).err, /no such runs/)
    assert.match((await replay('list', '--query', 'tool.call', '--status', 'error')).out, /run-1/)
    const { code, err } = await replay('list', '--since', 'lately')
    assert.equal(code, 2)
    assert.match(err, /since.*\(INVALID_FILTER\)/)
  })
  it('list: an unknown status is rejected with the known ones', async () => {
    const { code, out, err } = await replay('list', '--status', 'nonsense')
    assert.deepEqual([code === 0, out], [false, ''])
    assert.match(err, /No run has status "nonsense"; there is running, ok, error/)
  })

  it('export: writes to stdout without loss of digits', async () => {
    const { code, out, err } = await replay('export', 'run-1')
    assert.deepEqual([code, err, JSON.parse(out).schema], [0, '', 'trace.v1'])
    assert.match(out, /1782000000123456789/)
  })
  it('export: writes a file at once, and overwrites one only with --force', async () => {
    const first = await replay('export', 'run-1', '--format', 'otel', '--output', 'run.json')
    assert.deepEqual([first.code, first.out, first.err], [0, '', 'wrote run.json\n'])
    assert.equal((await guard(cwd, 'export', 'run-1', '--output', 'other.json', '--json')).err, '')
    const { resourceSpans } = JSON.parse(readFileSync(join(cwd, 'run.json'), 'utf8'))
    assert.equal(resourceSpans[0].scopeSpans[0].spans.length, 2)
    const again = await replay('export', 'run-1', '--output', 'run.json')
    assert.equal(again.code, 2)
    assert.match(again.err, /run\.json exists already.*--force.*\(USAGE\)/)
    assert.equal((await replay('export', 'run-1', '--output', 'run.json', '--force', '--quiet')).err, '')
    assert.match(readFileSync(join(cwd, 'run.json'), 'utf8'), /trace\.v1/)
  })
  it('export: reports a missing run or format, and leaves no file', async () => {
    const missing = await replay('export', 'nobody', '--output', 'none.json')
    assert.equal(missing.code, 1)
    assert.match(missing.err, /nobody.*\(RUN_NOT_FOUND\)/)
    const format = await replay('export', 'run-1', '--format', 'xml', '--output', 'none.json')
    assert.match(format.err, /json, jsonl, otel.*\(UNKNOWN_FORMAT\)/)
    assert.equal((await replay('export', 'run-1', '--output', 'no/such/folder.json')).code, 2)
    assert.equal(existsSync(join(cwd, 'none.json')), false)
    assert.deepEqual(
      (await readdir(cwd)).filter((name) => name.endsWith('.tmp')),
      [],
    )
  })
  it('import: an exported run returns under a new id, or is skipped', async () => {
    await replay('export', 'run-1', '--format', 'jsonl', '--output', 'run.jsonl')
    const { code, out, err } = await replay('import', 'run.jsonl', '--project', 'copies')
    assert.equal(code, 0)
    const id = out.trim()
    assert.match(id, /^[0-9a-f]{32}$/)
    assert.equal(err, `run-1 exists already; imported as ${id}\n`)
    assert.match((await replay('list', '--project', 'copies')).out, new RegExp(` ${id}$`, 'm'))
    const skipped = await replay('import', 'run.jsonl', '--on-conflict', 'skip')
    assert.deepEqual(skipped, { code: 0, out: '', err: 'run-1 exists already; skipped\n' })
    const json = JSON.parse((await replay('import', 'run.jsonl', '--on-conflict', 'skip', '--json')).out)
    assert.equal(json.skipped.length, 1)
  })
  it('import: reads standard input, and imports nothing in a dry run', async () => {
    const file = JSON.stringify({ schema: 'trace.v1', run: { trace_id: 'piped', name: 'x' } })
    const dry = await piped(cwd, file, '--dry-run')
    assert.deepEqual(dry, { code: 0, out: 'piped\n', err: 'Nothing was imported: this was a dry run.\n' })
    assert.equal((await replay('show', 'piped')).code, 1)
    assert.deepEqual(await piped(cwd, file), { code: 0, out: 'piped\n', err: '' })
    const again = await piped(cwd, file, '--dry-run')
    assert.match(again.err, /^piped exists already; it would get a new id\nNothing was imported/)
    const { dry_run, imported } = JSON.parse((await piped(cwd, file, '--dry-run', '--json')).out)
    assert.deepEqual(
      [dry_run, imported[0].remapped, imported[0].trace_id, imported[0].url],
      [true, true, 'piped', null],
    )
    assert.match((await replay('import', '-')).err, /Nothing comes in.*\(USAGE\)/)
    const refused = await piped(cwd, '{"schema":"trace.v1","run":{"trace_id":"x"},"spans":[{"id":1}]}', '--dry-run')
    assert.equal(refused.code, 1)
    assert.match(refused.err, /\/spans\/0\/id.*\(INVALID_ID\)/)
  })
  it('pin and unpin: change the retention of a run', async () => {
    assert.deepEqual(await replay('pin', 'run-1'), { code: 0, out: 'run-1 pinned\n', err: '' })
    assert.match((await replay('list', '--pinned')).out, / run-1$/m)
    assert.deepEqual(JSON.parse((await replay('unpin', 'run-1', '--json')).out), { trace_id: 'run-1', pinned: false })
    assert.match((await replay('list', '--pinned')).err, /no such runs/)
    const missing = await replay('pin', 'nobody')
    assert.equal(missing.code, 1)
    assert.match(missing.err, /nobody.*\(RUN_NOT_FOUND\)/)
  })
  it('import: reports the errors of a file', async () => {
    const absent = await replay('import', 'absent.json')
    assert.deepEqual(
      [absent.code, absent.err],
      [2, 'error: absent.json cannot be read: there is no such file. (USAGE)\n'],
    )
    await writeFile(join(cwd, 'odd.json'), '{"schema":"trace.v1","run":')
    const { code, err } = await replay('import', 'odd.json')
    assert.equal(code, 1)
    assert.match(err, /[Ll]ine 1/)
  })
})

it('replay commands read the database without a running gateway', async (test) => {
  const cwd = await mkdtemp(join(tmpdir(), 'guard-commands-'))
  test.after(() => rm(cwd, { recursive: true, force: true }))
  const gateway = await startGateway({ backend: 'sqlite', folder: cwd })
  await ingest(gateway)
  await gateway.close()
  await configure(cwd, gateway, 'file: guard.db')
  assert.deepEqual((await guard(cwd, 'export', 'run-1', '--output', 'run.json')).err, 'wrote run.json\n')
  assert.match(readFileSync(join(cwd, 'run.json'), 'utf8'), /1782000000123456789/)
  const { out } = await guard(cwd, 'import', 'run.json', '--project', 'copies')
  const listed = await guard(cwd, 'list', '--project', 'copies')
  assert.deepEqual([listed.code, listed.out.split('\n')[1]?.split(' ').at(-1)], [0, out.trim()])
  const missing = await guard(cwd, 'export', 'nobody')
  assert.equal(missing.code, 1)
  assert.match(missing.err, /nobody.*\(RUN_NOT_FOUND\)/)
})

it('replay commands work beside a gateway that is too busy to respond', async (test) => {
  const cwd = await mkdtemp(join(tmpdir(), 'guard-commands-'))
  test.after(() => rm(cwd, { recursive: true, force: true }))
  const gateway = await startGateway({ backend: 'sqlite', folder: cwd })
  test.after(() => gateway.close())
  await ingest(gateway)
  // this address has no listener
  await writeFile(join(cwd, 'guard-config.yml'), `${KEY}server: { port: 1 }\nstorage: { file: guard.db }\n`, {
    mode: 0o600,
  })
  const listed = await guard(cwd, 'list')
  assert.deepEqual([listed.code, listed.err], [0, ''])
  assert.match(listed.out, / run-1$/m)
  assert.equal((await guard(cwd, 'pin', 'run-1')).code, 0)
  assert.match((await gateway.request('GET', '/api/v1/runs?pinned=true')).text, /run-1/)
})

it('replay commands report a missing gateway and database', async (test) => {
  const cwd = await mkdtemp(join(tmpdir(), 'guard-commands-'))
  test.after(() => rm(cwd, { recursive: true, force: true }))
  const gateway = await startGateway()
  await gateway.close()
  await configure(cwd, gateway, 'backend: memory')
  const { code, err } = await guard(cwd, 'list')
  assert.equal(code, 69)
  assert.match(err, /No gateway answers at http:\/\/127\.0\.0\.1:\d+.*\(STORAGE_UNAVAILABLE\)/)
})
