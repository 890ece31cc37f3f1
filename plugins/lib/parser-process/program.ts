import type { ParserModule, ParserReply, ParserRequest } from './parser-process.ts'

const replyTo = async ({ module, text }: ParserRequest): Promise<ParserReply> => {
  try {
    const { parse } = (await import(module)) as ParserModule<unknown, unknown>
    const answer = await parse(text)
    return { answer, resident_bytes: process.memoryUsage.rss() }
  } catch (failure) {
    return { failure: failure ?? new Error('The parser failed.'), resident_bytes: process.memoryUsage.rss() }
  }
}

process.on('message', async (request: ParserRequest) => process.send?.(await replyTo(request)))
// the program that started it has ended
process.on('disconnect', () => process.exit())
// a terminal sends them to all processes of a group; the program that started this one decides when it ends
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
