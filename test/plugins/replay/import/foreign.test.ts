import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { claudeCode } from 'guard-gateway/plugins/import-formats/claude-code'
import { codex } from 'guard-gateway/plugins/import-formats/codex'
import type { ImportAnswer } from '../../../../plugins/replay/import/import.ts'
import { recording } from '../../../kit/import-files.ts'
import { type Bench, type Bundle, expecting, refused, startReplay } from '../kit.ts'

const SESSION = '00000001-0000-4000-8000-000000000001'
const work = recording('session-files/claude-code/work')
/** Larger than what is read on the main thread. */
const LARGE = 300_000

describe('a session file', () => {
  let bench: Bench
  before(async () => {
    bench = await startReplay({ plugins: [claudeCode, codex] })
  })
  after(() => bench.close())
  const send = (file: string, query = '') =>
    bench.send('POST', `/api/v1/runs/import${query}`, file, { 'content-type': 'application/octet-stream' })
  const run = async (id: string): Promise<Bundle> => expecting(200, await bench.send('GET', `/api/v1/runs/${id}`))

  it('is imported as a run, found again, and skipped on request', async () => {
    const { imported, warnings } = expecting<ImportAnswer>(201, await send(work))
    const [one = assert.fail()] = imported
    assert.deepEqual(
      [one.trace_id, one.remapped, one.identical_to, warnings],
      [SESSION.replaceAll('-', ''), false, null, []],
    )
    const { run: summary, spans } = await run(one.trace_id)
    assert.deepEqual(
      [summary.origin, summary.project_id, summary.session_id, summary.agent_name, summary.status, summary.failure_tag],
      ['import', 'shop', SESSION, 'claude-code', 'ok', null],
    )
    assert.deepEqual([summary.input_tokens, summary.output_tokens], [1_810 + 1_820 + 1_830 + 1_840 + 20, 25])
    assert.deepEqual(
      spans.filter(({ kind }) => kind === 'tool').map(({ label, status }) => [label, status]),
      [
        ['Read', 'ok'],
        ['Bash', 'error'],
        ['Edit', 'ok'],
        ['Bash', 'ok'],
      ],
    )
    const [again] = expecting<ImportAnswer>(201, await send(work)).imported
    assert.deepEqual([again?.remapped, again?.identical_to], [true, one.trace_id])
    const { skipped } = expecting<ImportAnswer>(200, await send(work, '?on_conflict=skip'))
    assert.deepEqual(skipped, [{ source_trace_id: one.trace_id, existing_trace_id: one.trace_id }])
  })

  it('has the argument hashes of calls that are recorded here, on either thread', async () => {
    const hashes = async (file: string) => {
      const [one = assert.fail()] = expecting<ImportAnswer>(201, await send(file)).imported
      const { spans } = await run(one.trace_id)
      return spans.filter(({ kind }) => kind === 'tool').map(({ attributes }) => attributes['guard.argument_hash'])
    }
    const small = await hashes(work)
    assert.deepEqual(await hashes(work.padEnd(LARGE)), small)
    assert.ok(small.every((hash) => /^[0-9a-f]{64}$/.test(String(hash))))
    const { value: key = '' } = (await bench.gateway.storage.get('installation', 'argument_hash_key')) ?? {}
    assert.notEqual(key, '')
  })

  it('is refused alike on either thread', async () => {
    const broken = `${work.trimEnd()}\n{"type":"user","sessionId":"${SESSION}","timestamp":"soon"}\n`
    for (const file of [broken, broken.padEnd(LARGE)]) {
      const { line, path } = refused(400, 'INVALID_TIME', await send(file))
      assert.deepEqual([line, path], [broken.split('\n').length - 1, '/timestamp'])
    }
  })

  it('of another kind is imported beside it in one file of its own', async () => {
    const { imported } = expecting<ImportAnswer>(201, await send(recording('session-files/codex')))
    assert.deepEqual(
      imported.map(({ spans }) => spans),
      [18, 10],
    )
  })

  it('of no known kind is refused with the names of all', async () => {
    const error = refused(400, 'INVALID_IMPORT', await send('{"hello":1}'))
    assert.match(error.message, /there is Claude Code, Codex, json, jsonl, otel/)
  })
})
