import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { main } from '../../../../presets/default/main.ts'
import { type Started, startGateway } from '../../../kit/gateway.ts'
import { fakeIo } from '../../../kit/io.ts'

const at = (ms: number): string => String(1_782_000_000_000_000_000n + BigInt(ms) * 1_000_000n)
const span = (name: string, from: number, to: number, more = {}) => ({
  name,
  start_ns: at(from),
  end_ns: at(to),
  ...more,
})
const left = {
  trace_id: 'left',
  start_ns: at(0),
  end_ns: at(4000),
  spans: [
    span('tool.call', 0, 1000, { attributes: { 'tool.name': 'read' } }),
    span('tool.call', 1000, 1500),
    span('a\u001b[2Jb', 2000, 2100),
  ],
}
const right = {
  trace_id: 'right',
  project_id: 'other',
  status: 'error',
  start_ns: at(0),
  end_ns: at(2000),
  spans: [
    span('tool.call', 0, 1000, { attributes: { 'tool.name': 'write' } }),
    span('tool.call', 1000, 1750, { status: 'error' }),
    span('command.exec', 1800, 1900),
  ],
}

describe('replay compare', () => {
  let cwd = ''
  let gateway: Started
  before(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'guard-compare-'))
    gateway = await startGateway({ backend: 'sqlite', folder: cwd })
    for (const trace of [left, right]) {
      const { status, text } = await gateway.request('POST', '/api/v1/traces', trace)
      assert.equal(status, 201, text)
    }
    const config = `gateway_key: ${gateway.key}\nserver: { port: ${new URL(gateway.url).port} }\nstorage: { file: guard.db }\n`
    await writeFile(join(cwd, 'guard-config.yml'), config, { mode: 0o600 })
  })
  after(async () => {
    await gateway.close()
    await rm(cwd, { recursive: true, force: true })
  })
  const compare = async (...argv: readonly string[]) => {
    const io = fakeIo({ cwd, env: { OPENAI_API_KEY: 'sk-openai' } })
    const code = await main(['replay', 'compare', ...argv], io)
    return { code, out: io.outText(), err: io.errText() }
  }

  it('prints totals and spans, right minus left, without control characters', async () => {
    const { code, out, err } = await compare('left', 'right')
    assert.equal(code, 0)
    assert.match(
      out,
      /^They part at step 1: left has read, right has write\.\n +left +right\nstatus +ok +error +changed\n/,
    )
    assert.match(out, /\nduration +4\.0s +2\.0s +-2\.0s\n/)
    assert.match(out, /\nspans +4 +4 +0\n/)
    assert.match(out, /\n~ {2}tool\.call#1 +ok +ok +read → write +\+0ms\n/)
    assert.match(out, /\n~ {2}tool\.call#2 +ok +error +\+250ms\n/)
    assert.match(out, /\n- {2}ab#1 +ok\n/)
    assert.match(out, /\n\+ {2}command\.exec#1 +ok\n/)
    assert.match(err, /^warning: .*default and other/)
  })
  it('omits equal rows with --only-changed', async () => {
    const { out } = await compare('right', 'right', '--only-changed')
    assert.equal(out.trimEnd().split('\n').length, 10)
    assert.equal((await compare('right', 'right')).out.trimEnd().split('\n').length, 14)
  })
  it('folds what repeats unless all is asked for, and pairs as --align says', async () => {
    const repeats = Array.from({ length: 4 }, (_, at) =>
      span('command.exec', 5000 + at * 100, 5050 + at * 100, { attributes: { command: 'npm test' } }),
    )
    const body = { ...left, trace_id: 'again', spans: [...left.spans, ...repeats] }
    assert.equal((await gateway.request('POST', '/api/v1/traces', body)).status, 201)
    const { out } = await compare('left', 'again')
    assert.match(out, /^They part at step 4: left ends, right has npm test four times\.\n/)
    assert.match(out, /\n\+ {2}command\.exec#1 ×4 +ok +npm test\n/)
    assert.match((await compare('left', 'again', '--all')).out, /\n\+ {2}command\.exec#4 +ok +npm test\n/)
    assert.match((await compare('left', 'again', '--align', 'label')).out, /\n {3}tool\.call\[read\]#1 /)
    const wrong = await compare('left', 'again', '--align', 'time')
    assert.equal(wrong.code, 2)
    assert.match(wrong.err, /--align/)
  })
  it('prints attributes that differ with --attributes', async () => {
    const { out } = await compare('left', 'right', '--attributes')
    assert.match(out, /\n~ {2}tool\.call#1 .*\n {6}tool\.name: read → write\n/)
  })
  it('prints the response with --json', async () => {
    const { out, err } = await compare('left', 'right', '--json', '--quiet')
    assert.deepEqual(JSON.parse(out).summary, {
      both: 3,
      left_only: 1,
      right_only: 1,
      status_changed: 2,
      label_changed: 1,
      arguments_changed: 0,
    })
    assert.equal(err, '')
  })
  it('names a missing run or argument', async () => {
    const missing = await compare('left', 'nobody')
    assert.equal(missing.code, 1)
    assert.match(missing.err, /^error: .*nobody.*\(RUN_NOT_FOUND\)\n$/)
    assert.equal((await compare('left')).code, 2)
  })
  it('reads the database if no gateway runs', async () => {
    await gateway.close()
    const { code, out } = await compare('left', 'right', '--only-changed')
    assert.equal(code, 0)
    assert.match(out, /\n~ {2}tool\.call#2 +ok +error +\+250ms\n/)
    gateway = await startGateway({ backend: 'memory' })
  })
})
