import { exitFailed } from './exit-code.ts'
import type { ResultFrame } from './result-frame.ts'

/** Longer results are not parsed. */
const CHARS = 200_000

/** mini-swe-agent 1: text between tags. */
export const miniSwe: ResultFrame = {
  client: 'mini-swe-agent 1: `<returncode>0</returncode>`, then `<output>…</output>`',
  read(text) {
    const [head, code] = /^[\t-\r ]*<returncode>[\t-\r ]*(-?\d{1,10})[\t-\r ]*<\/returncode>[\t-\r ]*/.exec(text) ?? []
    if (head === undefined) return
    const rest = text.slice(head.length)
    const [open] = /^(?:<warning>[^<]{0,2000}<\/warning>[\t-\r ]*)?<output>/.exec(rest) ?? []
    const end = rest.lastIndexOf('</output>')
    return { body: open === undefined || end === -1 ? rest : rest.slice(open.length, end), failed: exitFailed(code) }
  },
}

/** mini-swe-agent 2: one object. */
export const miniSweJson: ResultFrame = {
  client: 'mini-swe-agent 2: `{"returncode": 0, "output": …}`',
  read(text) {
    const [, code] =
      /^[\t-\r ]*\{[\t-\r ]*"returncode":[\t-\r ]*(-?\d{1,10})[\t-\r ]*,[\t-\r ]*"output"/.exec(text) ?? []
    if (code === undefined || text.length > CHARS) return
    const output = outputOf(text)
    return output === undefined ? undefined : { body: output, failed: exitFailed(code) }
  },
}

const outputOf = (text: string): string | undefined => {
  try {
    const { output } = JSON.parse(text) as { readonly output?: unknown }
    return typeof output === 'string' ? output : undefined
  } catch {
    return undefined
  }
}
