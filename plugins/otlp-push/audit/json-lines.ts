import { writeJson } from 'guard-gateway/lib/json'
import type { RecordEncoder } from './audit-source.ts'

/** One record a line, as `guard mcp export --format jsonl` writes them. */
export const jsonLines: RecordEncoder = async function* (records) {
  if (records.length === 0) return
  const text = records.map((record) => `${writeJson({ type: 'event', ...record })}\n`).join('')
  yield { bytes: Buffer.from(text), count: records.length }
}
