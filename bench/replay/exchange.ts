import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bigRun } from './big-run.ts'
import { type Figure, figure } from './figures.ts'
import { openRoutes, type Routes } from './routes.ts'

const formats = ['json', 'jsonl', 'otel'] as const
const TRACE = 'f'.repeat(32)

/** Export and import time of a run of `spans` spans in each format, from the request to the last, durable byte. */
export const exchange = async (spans: number): Promise<readonly Figure[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-bench-'))
  const routes = await openRoutes(join(folder, 'guard.db'))
  try {
    await routes.gateway.keep([bigRun(TRACE, spans)])
    const figures: Figure[] = []
    for (const format of formats) figures.push(...(await throughputOf(routes, format)))
    return figures
  } finally {
    await routes.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const throughputOf = async (routes: Routes, format: string): Promise<readonly Figure[]> => {
  const start = performance.now()
  const text = await routes.request(`/api/v1/runs/${TRACE}/export?format=${format}`)
  const exported = performance.now()
  await routes.request('/api/v1/runs/import', text)
  const imported = performance.now()
  const megabytes = Buffer.byteLength(text) / 1e6
  const rate = (ms: number): number => megabytes / (ms / 1_000)
  return [
    figure(`export: ${format}, ${megabytes.toFixed(1)} MB`, rate(exported - start), 'MB/s'),
    figure(`import: ${format}, ${megabytes.toFixed(1)} MB`, rate(imported - exported), 'MB/s'),
  ]
}
