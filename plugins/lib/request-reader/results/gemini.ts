import { exitFailed } from './exit-code.ts'
import type { ResultFrame } from './result-frame.ts'

const end = '</untrusted_context>'

/** The fields after the output. Without an exit code and a signal the command succeeded. */
const fields =
  /\n(?:Error: [^\n]{0,2000}\n)?(?:Exit Code: (-?\d{1,10})\n)?(?:Signal: (-?\d{1,10})\n)?(?:Background PIDs: [^\n]{0,200}\n)?Process Group PGID: \d{1,10}[\t-\r ]*$/

/** Gemini CLI 0.61, as translating proxies pass it on: untrusted text between tags, with the output and a few fields. */
export const gemini: ResultFrame = {
  client: 'Gemini CLI 0.61: `<untrusted_context>`, `Output: …`, `Process Group PGID: …`',
  read(text) {
    const [open] = /^[\t-\r ]*<untrusted_context>[\t-\r ]*/.exec(text) ?? []
    if (open === undefined) return
    const close = text.lastIndexOf(end)
    const inner = text.slice(open.length, close === -1 ? text.length : close)
    if (!inner.startsWith('Output: ')) return { body: inner, failed: null }
    const found = fields.exec(inner)
    if (found === null) return { body: inner.slice('Output: '.length), failed: null }
    const [tail, code, signal] = found
    const failed = signal === undefined ? exitFailed(code) === true : true
    return { body: inner.slice('Output: '.length, inner.length - tail.length), failed }
  },
}
