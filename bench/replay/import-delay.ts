import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type Figure, figure } from './figures.ts'
import { delayDuring } from './loop-delay.ts'
import { openRoutes } from './routes.ts'

const RUNS = 4
const SPAN_BYTES = 2_048
const WORDS = ['read', 'write', 'search', 'the', 'file', 'of', 'a', 'test', 'failed', 'in', 'module', 'retry']

/** Event-loop delay during the import of a file of about `bytes` bytes, and the duration of the import. */
export const importDelay = async (bytes: number): Promise<readonly Figure[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-bench-'))
  const routes = await openRoutes(join(folder, 'guard.db'))
  try {
    const lines = jsonlOf(bytes)
    // chunks as from a connection; one long string would block the event loop itself
    const file = Readable.from(lines, { objectMode: false })
    const start = performance.now()
    const delay = await delayDuring(() => routes.request('/api/v1/runs/import', file))
    const megabytes = (bytes / 1e6).toFixed(0)
    return [
      figure(`import of ${megabytes} MB`, performance.now() - start, 'ms'),
      figure(`event loop late, import of ${megabytes} MB, p99`, delay.p99_ms, 'ms'),
      figure(`event loop late, import of ${megabytes} MB, most`, delay.max_ms, 'ms'),
    ]
  } finally {
    await routes.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** JSONL of some runs with typical attributes of tool calls. */
const jsonlOf = (bytes: number): readonly string[] => {
  const lines: string[] = []
  for (let run = 0; run < RUNS; run++)
    lines.push(JSON.stringify({ type: 'run', schema: 'trace.v1', trace_id: `imported-${run}`, status: 'ok' }))
  for (let n = 0; n < bytes / SPAN_BYTES; n++) {
    const span = {
      type: 'span',
      trace_id: `imported-${n % RUNS}`,
      id: `s${n}`,
      parent_id: n < RUNS * 8 ? null : `s${n - RUNS * 8}`,
      name: 'tool.call',
      start_ns: String(1_780_000_000_000_000_000n + BigInt(n) * 1_000n),
      end_ns: String(1_780_000_000_000_000_000n + BigInt(n) * 1_000n + 900n),
      attributes: { 'gen_ai.tool.name': `tool-${n % 40}`, note: '' },
    }
    const missing = SPAN_BYTES - JSON.stringify(span).length
    span.attributes.note = Array.from({ length: missing / 5 }, (_, word) => WORDS[(word * 7 + n) % WORDS.length])
      .join(' ')
      .slice(0, missing)
    lines.push(JSON.stringify(span))
  }
  return lines.map((line) => `${line}\n`)
}
