import { readFile } from 'node:fs/promises'
import { createGuard } from 'guard-gateway/sdk'

// Default address, project and key: GUARD_URL, GUARD_PROJECT and GUARD_GATEWAY_KEY.
const guard = createGuard({ project: 'examples', agent: 'line-counter' })

// Each call of a wrapped function is a span. This function is a tool of the agent.
const countLines = guard.wrap(async (file: string) => {
  const lines = (await readFile(file, 'utf8')).split('\n').length
  guard.current()?.set({ 'gen_ai.tool.name': 'count_lines', 'file.lines': lines })
  return lines
}, 'tool.call')

const { id, lines } = await guard.trace('count-lines', { taskId: 'T-1', tags: ['example'] }, async (trace) => {
  await guard.span('plan', (span) => span.event('decided', { next: 'count_lines' }))
  try {
    await countLines('no-such-file.txt')
  } catch {
    // the span has failed; the trace succeeds if the agent recovers
    trace.event('recovered', { from: 'missing file' })
  }
  const lines = await countLines(import.meta.filename)
  trace.artifact({ path: import.meta.filename, mimeType: 'text/typescript' })
  return { id: trace.traceId, lines }
})

await guard.close()
console.log(`counted ${lines} lines; the run is /replay/${id}`)
