import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Summary } from './summary.ts'

const compared = [
  'precision',
  'recall',
  'f1',
  'clean_fp_rate',
  'harmful_block_rate',
  'unresolved_block_rate',
  'median_lag',
  'tokens_saved_share',
] as const

/**
 * Compares each summary with that of an earlier run, matched by suite, detector and group. Throws a TypeError if the
 * file has no summary.
 */
export const withBaseline = async (summaries: readonly Summary[], file: string): Promise<readonly Summary[]> => {
  const known = await summariesIn(file)
  const name = basename(file)
  return summaries.map((summary) => {
    const earlier = known.get(keyOf(summary))
    return earlier === undefined ? summary : { ...summary, baseline: { name, deltas: deltas(summary, earlier) } }
  })
}

const keyOf = ({ suite, detector, group }: Summary): string => `${suite} ${detector.id} ${group}`

const deltas = (now: Summary, earlier: Summary): Record<string, number> => {
  const found: Record<string, number> = {}
  for (const name of compared) {
    const [after, before] = [now[name], earlier[name]]
    if (typeof after === 'number' && typeof before === 'number') found[name] = after - before
  }
  return found
}

const summariesIn = async (file: string): Promise<Map<string, Summary>> => {
  const text = await readFile(file, 'utf8').catch((cause: Error) => {
    throw new TypeError(`The baseline ${file} cannot be read: ${cause.message}`, { cause })
  })
  const lines = text.split('\n').filter((line) => line.includes('"bench.summary.v1"'))
  if (lines.length === 0) throw new TypeError(`${file} holds no line of bench.summary.v1; write one with --out.`)
  return new Map(lines.map((line) => JSON.parse(line) as Summary).map((summary) => [keyOf(summary), summary]))
}
