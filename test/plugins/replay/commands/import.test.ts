import assert from 'node:assert/strict'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { claudeCode } from 'guard-gateway/plugins/import-formats/claude-code'
import { codex } from 'guard-gateway/plugins/import-formats/codex'
import { errorFromResponse } from '#lib/errors'
import { importFile } from '../../../../plugins/replay/commands/import.ts'
import { recording } from '../../../kit/import-files.ts'
import { fakeIo } from '../../../kit/io.ts'
import { type Bench, startReplay } from '../kit.ts'

const data = join(import.meta.dirname, '../../../data/session-files')

describe('guard replay import', () => {
  let bench: Bench
  let folder: string
  before(async () => {
    bench = await startReplay({ plugins: [claudeCode, codex] })
    folder = await mkdtemp(join(tmpdir(), 'guard-import-'))
    await cp(data, join(folder, 'sessions'), { recursive: true })
    await writeFile(join(folder, 'sessions/settings.json'), '{"theme":"dark"}')
    await writeFile(join(folder, 'work.jsonl.gz'), gzipSync(recording('session-files/claude-code/work')))
    await writeFile(join(folder, 'bomb.jsonl.gz'), gzipSync('0'.repeat(80 * 1024 * 1024)))
    await writeFile(join(folder, 'half.json.gz'), gzipSync('{"schema":"trace.v1"}').subarray(0, 20))
    await mkdir(join(folder, 'empty'))
  })
  after(async () => {
    await bench.close()
    await rm(folder, { recursive: true, force: true })
  })

  const run = async (args: readonly string[], options: Readonly<Record<string, string | boolean>> = {}) => {
    const io = fakeIo({ cwd: folder })
    const code = await importFile(
      {
        asking: (work) =>
          work(async (_method, path, body) => {
            const chunks: Buffer[] = []
            for await (const chunk of body as Readable) chunks.push(Buffer.from(chunk as Uint8Array))
            const { status, text } = await bench.send('POST', path, Buffer.concat(chunks), {
              'content-type': 'application/octet-stream',
            })
            if (status >= 300) throw errorFromResponse(text)
            return Readable.from([text])
          }),
        running: async () => '',
      },
      { args: [...args], options: { ...options }, rest: [] },
      io,
    )
    return { code, out: io.outText(), err: io.errText() }
  }

  it('takes all sessions below a folder, each with its subagents, and passes others over', async () => {
    const { code, out, err } = await run(['sessions'])
    assert.equal(out.trim().split('\n').length, 5, out)
    assert.equal(code, 0)
    assert.match(err, /^sessions\/gemini\/\S+: The file is of no known format; there is Claude Code, Codex/m)
    assert.match(err, /^sessions\/settings\.json: The file is of no known format/m)
    const { body } = await bench.send('GET', '/api/v1/runs/00000003000040008000000000000001')
    const { spans } = body as unknown as { spans: { name: string }[] }
    assert.ok(spans.some(({ name }) => name === 'invoke_agent'))
  })

  it('skips them the next time', async () => {
    const { code, out, err } = await run(['sessions/claude-code', 'sessions/codex'])
    assert.deepEqual([code, out], [0, ''])
    assert.equal(err.match(/exists already; skipped/g)?.length, 5)
  })

  it('takes a compressed file, and a run that exists under a new id', async () => {
    const { code, out, err } = await run(['work.jsonl.gz'])
    assert.equal(code, 0)
    assert.match(out, /^[0-9a-f]{32}\n$/)
    assert.match(err, /^00000001000040008000000000000001 exists already; imported as/)
  })

  it('refuses a compressed file that is too large inside, or half', async () => {
    await assert.rejects(run(['bomb.jsonl.gz']), {
      code: 'BODY_TOO_LARGE',
      message: /inflates to more than 67108864 bytes/,
    })
    await assert.rejects(run(['half.json.gz']), { code: 'INVALID_BODY', message: /it cannot be read as gzip/ })
  })

  it('takes the other files where one cannot be imported, and ends with 1', async () => {
    const { code, out, err } = await run(['half.json.gz', 'work.jsonl.gz'], { onConflict: 'skip' })
    assert.deepEqual([code, out], [1, ''])
    assert.match(err, /exists already; skipped\nhalf\.json\.gz: The body is not what it says/)
  })

  it('answers in JSON: as the service does for a file, summed up for a folder', async () => {
    const one = JSON.parse((await run(['work.jsonl.gz'], { json: true, dryRun: true })).out)
    assert.deepEqual([one.imported.length, one.dry_run], [1, true])
    const all = JSON.parse((await run(['sessions'], { json: true })).out)
    assert.deepEqual([all.imported.length, all.skipped.length, all.failed.length], [0, 5, 2])
  })

  it('refuses what is not there, and a folder without files', async () => {
    await assert.rejects(run(['nothing.json']), {
      code: 'USAGE',
      message: /nothing\.json cannot be read: there is no such file/,
    })
    await assert.rejects(run(['empty']), {
      code: 'USAGE',
      message: /empty cannot be read: no file below it ends in \.json/,
    })
  })
})
