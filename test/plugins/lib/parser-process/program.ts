import { parserProcess } from 'guard-gateway/lib/parser-process'
import type { Answer, Text } from './parser.ts'

// prints the id of the process that parses, and ends by itself unless it is told to wait
const address = new URL('./parser.ts', import.meta.url).href
const { pid } = await parserProcess.parse<Text, Answer>(address, { say: 'a' })
process.stdout.write(`${pid}\n`)
if (process.argv[2] === 'wait') setInterval(() => {}, 60_000)
