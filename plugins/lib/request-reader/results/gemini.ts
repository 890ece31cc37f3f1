import { exited } from './exited.ts'
import type { Frame } from './frame.ts'

const end = '</untrusted_context>'

/** The fields behind the output; without an exit code and a signal the command did well. */
const fields =
  /\n(?:Error: [^\n]{0,2000}\n)?(?:Exit Code: (-?\d{1,10})\n)?(?:Signal: (-?\d{1,10})\n)?(?:Background PIDs: [^\n]{0,200}\n)?Process Group PGID: \d{1,10}[\t-\r ]*$/

/** Gemini CLI 0.61, as translators pass it on: what may not be trusted between tags, with the output and a few fields. */
export const gemini: Frame = {
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
    const failed = signal === undefined ? exited(code) === true : true
    return { body: inner.slice('Output: '.length, inner.length - tail.length), failed }
  },
}
