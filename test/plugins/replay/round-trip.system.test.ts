import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { main } from '../../../presets/default/main.ts'
import { type Started, startGateway } from '../../kit/gateway.ts'
import { fakeIo } from '../../kit/io.ts'
import type { Bundle } from './kit.ts'

const SPANS = 800
const T0 = 1_780_000_000_000_000_001n
/** Maximum chunk of a file of any size. */
const MAX_PIECE = 128 * 1_024

const file = (): string => {
  const run = { type: 'run', schema: 'trace.v1', trace_id: 'large', status: 'ok', tags: ['x'], name: 'Large' }
  const spans = Array.from({ length: SPANS }, (_, n) => {
    const start = T0 + BigInt(n) * 7n
    const span = {
      type: 'span',
      trace_id: 'large',
      id: `s${n}`,
      parent_id: n < 3 ? null : `s${Math.floor(n / 3)}`,
      name: n % 2 === 0 ? 'tool.call' : 'step',
      status: n % 100 === 0 ? 'error' : 'ok',
      start_ns: String(start),
      end_ns: String(start + 5n),
      attributes: { 'gen_ai.tool.name': `t${n % 50}`, n, ratio: 0.5, note: 'word '.repeat(60) },
    }
    const event = { type: 'event', trace_id: 'large', span_id: span.id, id: `e${n}`, name: 'tool.result' }
    return `${JSON.stringify(span)}\n${JSON.stringify({ ...event, time_ns: String(start + 2n), attributes: { ok: true } })}`
  })
  return [JSON.stringify(run), ...spans].join('\n')
}

/** The content of a run, with ids replaced by positions. */
const said = ({ run, spans, events }: Bundle) => {
  const places = new Map(spans.map(({ id }, place) => [id, place]))
  return {
    run: [run.name, run.status, run.tags, run.start_ns, run.end_ns, run.span_count, run.event_count, run.failure_tag],
    spans: spans.map((span) => [
      span.name,
      span.kind,
      span.label,
      span.status,
      span.start_ns,
      span.end_ns,
      span.parent_id === null ? null : places.get(span.parent_id),
      span.attributes,
      span.events.map(({ name, time_ns, attributes }) => [name, time_ns, attributes]),
    ]),
    events: events.map(({ name, time_ns }) => [name, time_ns]),
  }
}

describe('a large run is exported and imported on the command line', () => {
  let cwd = ''
  let gateway: Started
  let original: unknown
  before(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'guard-trip-'))
    gateway = await startGateway({ backend: 'sqlite', folder: cwd })
    const config = `gateway_key: ${gateway.key}\nserver: { port: ${new URL(gateway.url).port} }\nstorage: { file: guard.db }\n`
    await writeFile(join(cwd, 'guard-config.yml'), config, { mode: 0o600 })
    await writeFile(join(cwd, 'large.jsonl'), file())
    assert.equal((await replay('import', 'large.jsonl')).out, 'large\n')
    original = said(await bundle('large'))
  })
  after(async () => {
    await gateway.close()
    await rm(cwd, { recursive: true, force: true })
  })
  const replay = async (...argv: readonly string[]) => {
    const io = fakeIo({ cwd, env: { OPENAI_API_KEY: 'sk-openai' } })
    const code = await main(['replay', ...argv], io)
    assert.equal(code, 0, io.errText())
    return { out: io.outText() }
  }
  const bundle = async (trace_id: string): Promise<Bundle> => JSON.parse((await replay('show', trace_id, '--json')).out)

  for (const format of ['json', 'jsonl', 'otel'])
    it(`as ${format}, without change except its ids`, async () => {
      await replay('export', 'large', '--format', format, '--output', format)
      const { out } = await replay('import', format)
      const trace_id = out.trim()
      assert.notEqual(trace_id, 'large')
      assert.deepEqual(said(await bundle(trace_id)), original)
    })

  it('in chunks, never as one string, also without a running gateway', async () => {
    await gateway.close()
    const pieces: number[] = []
    const io = fakeIo({ cwd, env: { OPENAI_API_KEY: 'sk-openai' } })
    const { out } = io
    const write = out.write.bind(out) as (chunk: Uint8Array) => boolean
    out.write = ((chunk: Uint8Array) => {
      pieces.push(chunk.length)
      return write(chunk)
    }) as typeof out.write
    assert.equal(await main(['replay', 'export', 'large', '--format', 'otel'], io), 0)
    assert.ok(pieces.length > 10 && Math.max(...pieces) <= MAX_PIECE, String(Math.max(...pieces)))
    assert.equal(io.outText(), readFileSync(join(cwd, 'otel'), 'utf8'))
  })
})
