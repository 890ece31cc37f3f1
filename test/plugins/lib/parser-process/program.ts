import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parserProcess } from '#lib/parser-process'
import type { Answer, Text } from './parser.ts'

// prints the id of the process that parses, and ends by itself unless it is told otherwise
const address = new URL('./parser.ts', import.meta.url).href
const [, , how] = process.argv
if (how === 'gone') {
  const folder = mkdtempSync(join(tmpdir(), 'guard-gone-'))
  process.chdir(folder)
  rmdirSync(folder)
}
const { pid } = await parserProcess.parse<Text, Answer>(address, { say: 'a' })
if (how === 'spin') {
  parserProcess.parse<Text, Answer>(address, { spin: true }, { limit_ms: 3_000 }).catch(() => {})
  // the start of a second process takes longer than the way of a text to the first
  await parserProcess.parse<Text, Answer>(address, { say: 'long' }, { long: true })
}
process.stdout.write(`${pid}\n`)
if (how === 'wait') setInterval(() => {}, 60_000)
