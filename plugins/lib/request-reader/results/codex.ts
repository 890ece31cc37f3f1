import { exited } from './exited.ts'
import type { Frame } from './frame.ts'

const head =
  /^(?:(?:Chunk ID|Wall time|Exit code|Process exited with code|Process running with session ID|Original token count|Total output lines):?[^\n]{0,200}\n){1,8}Output:[\t\v\f\r ]*(?:\n|$)/

/** Codex 0.169: lines about the process, then `Output:` and what the command said. A process that goes on has no exit code. */
export const codex: Frame = {
  client: 'Codex 0.169: `Wall time: …`, `Process exited with code 0`, `Output:`',
  read(text) {
    const [lines] = head.exec(text) ?? []
    if (lines === undefined) return
    const [, code] = /^(?:Exit code:|Process exited with code) (-?\d{1,10})/m.exec(lines) ?? []
    return { body: text.slice(lines.length), failed: exited(code) }
  },
}
