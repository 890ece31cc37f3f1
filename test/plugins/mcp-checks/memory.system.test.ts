import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { shell } from 'guard-gateway/plugins/mcp-checks/shell'
import { sql } from 'guard-gateway/plugins/mcp-checks/sql'
import { parserProcess } from '#lib/parser-process'
import { loaded } from '../../conformance/mcp-check.ts'

const COMMANDS = ['git status && ls -la | grep x', 'npm test -- --watch > out.txt 2>&1', 'cat <<EOF\nhi\nEOF\n']
const STATEMENTS = ['select 1 from a where b in (1, 2)', "insert into t (a) values ('x') returning *", 'delete from a']

const ROUNDS = 1_500
/** Bytes that the process of parsers is resident with. */
const resident = (): number =>
  1_024 * Number(execFileSync('ps', ['-o', 'rss=', '-p', String(parserProcess.pids[0])], { encoding: 'utf8' }))

test('thousands of commands and statements are parsed in little memory', async () => {
  const command = await loaded(shell, { args: ['/text'], allow: ['ls'] })
  const statement = await loaded(sql, { args: ['/text'], dialect: 'postgres', operations: ['select'] })
  await command({ text: 'ls' })
  await statement({ text: 'select 1' })
  const before = resident()
  for (let round = 0; round < ROUNDS; round++)
    await Promise.all([...COMMANDS.map((text) => command({ text })), ...STATEMENTS.map((text) => statement({ text }))])
  assert.ok(resident() - before < 200e6, String(resident() - before))
})
