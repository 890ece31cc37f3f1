import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadGrammar, outline } from '../../../plugins/mcp-checks/shell/grammar.ts'
import { loadPostgres, readPostgresSql } from '../../../plugins/mcp-checks/sql/postgres.ts'

const COMMANDS = ['git status && ls -la | grep x', 'npm test -- --watch > out.txt 2>&1', 'cat <<EOF\nhi\nEOF\n']
const STATEMENTS = ['select 1 from a where b in (1, 2)', "insert into t (a) values ('x') returning *", 'delete from a']

/** Most bytes that the process was resident with. */
const peakOf = (texts: readonly string[], read: (text: string) => unknown): number => {
  let peak = 0
  for (let round = 0; round < 1500; round++) {
    for (const text of texts) read(text)
    if (round % 50 === 0) peak = Math.max(peak, process.memoryUsage.rss())
  }
  return peak
}

test('thousands of commands and statements are parsed in little memory', async () => {
  await loadGrammar()
  await loadPostgres()
  const before = process.memoryUsage.rss()
  assert.ok(peakOf(COMMANDS, outline) - before < 120e6)
  assert.ok(peakOf(STATEMENTS, readPostgresSql) - before < 160e6)
})
