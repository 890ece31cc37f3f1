import { writeFileSync } from 'node:fs'
import { createContext, Script } from 'node:vm'
import type { ParserModule, ParserReply, ParserRequest } from './parser-process.ts'

/** The program that started this one ends it in time, if it still can. */
const GRACE_MS = 1_000

const context: { work?: () => unknown } = createContext({})
const script = new Script('work()')

/** Work that takes longer is interrupted by an error. */
const within = (timeout: number, work: () => unknown): unknown => {
  context.work = work
  return script.runInContext(context, { timeout })
}

const replyTo = async ({ module, text, limit_ms }: ParserRequest): Promise<ParserReply> => {
  try {
    const { load, parse } = (await import(module)) as ParserModule<unknown, unknown>
    await load?.(text)
    const answer = within(limit_ms + GRACE_MS, () => parse(text))
    return { answer, resident_bytes: process.memoryUsage.rss() }
  } catch (failure) {
    if (isBroken(failure)) process.exit(BROKEN)
    return { failure: failure ?? new Error('The parser failed.'), resident_bytes: process.memoryUsage.rss() }
  }
}

/** EX_SOFTWARE of sysexits. */
const BROKEN = 70

const TIMED_OUT = 'ERR_SCRIPT_EXECUTION_TIMEOUT'

/** After an exhausted stack or a fault in WebAssembly, and after an interruption, nobody knows the state of a parser. */
const isBroken = (failure: unknown): boolean =>
  failure instanceof RangeError ||
  (failure instanceof Error && (failure.name === 'RuntimeError' || Reflect.get(failure, 'code') === TIMED_OUT))

// where memory is short, Linux ends this process first
try {
  writeFileSync('/proc/self/oom_score_adj', '1000')
} catch {
  // other systems have no such file
}
process.on('message', async (request: ParserRequest) => process.send?.(await replyTo(request)))
// the program that started it has ended
process.on('disconnect', () => process.exit())
// a terminal sends them to all processes of a group; the program that started this one decides when it ends
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
