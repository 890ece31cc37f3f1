import { exitFailed } from './exit-code.ts'
import type { ResultFrame } from './result-frame.ts'

const head =
  /^(?:(?:Chunk ID|Wall time|Exit code|Process exited with code|Process running with session ID|Original token count|Total output lines):?[^\n]{0,200}\n){1,8}Output:[\t\v\f\r ]*(?:\n|$)/

/** Codex 0.169: lines about the process, then `Output:` and the output of the command. A process that still runs has no exit code. */
export const codex: ResultFrame = {
  client: 'Codex 0.169: `Wall time: …`, `Process exited with code 0`, `Output:`',
  read(text) {
    const [lines] = head.exec(text) ?? []
    if (lines === undefined) return
    const [, code] = /^(?:Exit code:|Process exited with code) (-?\d{1,10})/m.exec(lines) ?? []
    return { body: text.slice(lines.length), failed: exitFailed(code) }
  },
}
