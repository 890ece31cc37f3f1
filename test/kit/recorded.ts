import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Asserts that lines are those of a file in `test/data/recorded`, which `GUARD_RECORD_TABLES` writes anew. */
export const assertRecorded = (name: string, lines: readonly string[]): void => {
  const file = join(import.meta.dirname, '../data/recorded', name)
  if (process.env.GUARD_RECORD_TABLES !== undefined) writeFileSync(file, `${lines.join('\n')}\n`)
  assert.deepEqual(lines, readFileSync(file, 'utf8').trimEnd().split('\n'))
}

/** A line for each value below one, with the path that leads to it; of a function nothing. */
export const linesOf = (value: unknown, path: string): readonly string[] => {
  if (typeof value === 'function') return []
  if (typeof value !== 'object' || value === null) return [`${path}: ${JSON.stringify(value)}`]
  if (value instanceof RegExp) return [`${path}: ${value}`]
  return Object.entries(value).flatMap(([name, member]) => linesOf(member, `${path}.${name}`))
}
