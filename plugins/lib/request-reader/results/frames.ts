import { trimmed } from './blanks.ts'
import { cline } from './cline.ts'
import { codex } from './codex.ts'
import { exited } from './exited.ts'
import type { Frame, Framed } from './frame.ts'
import { gemini } from './gemini.ts'
import { miniSwe, miniSweJson } from './mini-swe.ts'
import { mayRefuse, refusal } from './refusals.ts'

/** A frame that stands before what the tool said; the first group is its exit code. */
const before = (client: string, pattern: RegExp): Frame => ({
  client,
  read(text) {
    const found = pattern.exec(text)
    return found === null ? undefined : { body: text.slice(found[0].length), failed: exited(found[1]) }
  },
})

/** What stands behind what the tool said is looked for in so many characters. */
const TAIL = 400

/** A frame that stands behind what the tool said; the first group is its exit code, and without one it failed. */
const behind = (client: string, pattern: RegExp): Frame => ({
  client,
  read(text) {
    const found = pattern.exec(text.slice(-TAIL))
    return found === null
      ? undefined
      : { body: text.slice(0, text.length - found[0].length), failed: exited(found[1]) ?? true }
  },
})

/** Frames of clients. Recordings of them stand in `test/data/result-frames`. */
const frames: readonly Frame[] = [
  miniSwe,
  miniSweJson,
  {
    client: 'Claude Code 2.1: `<tool_use_error>…</tool_use_error>`',
    read: (text) => (/^[\t-\r ]*<tool_use_error>/.test(text) ? { body: text, failed: true } : undefined),
  },
  before(
    'Claude Code 2.1: `Exit code 2`, then what the command said',
    /^[\t-\r ]*Exit code (-?\d{1,10})(?=[\t-\r ]|$)/,
  ),
  codex,
  {
    client: 'Qwen Code 0.24, Gemini CLI: `Command:`, `Directory:`, `Output:`, `Error:`, `Exit Code:`',
    read(text) {
      const [head] = /^(?:Command: [\s\S]{0,20000}?\nDirectory: [^\n]*\n)?(?:Output|Stdout): /.exec(text) ?? []
      if (head === undefined) return
      const said = text.slice(head.length)
      const fields = said.lastIndexOf('\nExit Code: ')
      const [, code] = /^\nExit Code: (\(none\)|-?\d{1,10})/.exec(said.slice(Math.max(0, fields))) ?? []
      if (code === undefined) return
      const parts = said.slice(0, fields).split(/\n(?:Error|Stderr): /)
      const body = parts.filter((part) => !isPlaceholder(trimmed(part))).join('\n')
      // a signal ended it
      return { body, failed: code === '(none)' ? true : exited(code) }
    },
  },
  gemini,
  cline,
  behind(
    'Copilot CLI 1.0: `<shellId: 0 completed with exit code 0>`',
    /[\t-\r ]*<(?:shellId: |command with )[^<>\n]{1,100} (?:completed|exited) with exit code (-?\d{1,10})>[\t-\r ]*$/,
  ),
  behind(
    'pi 0.73: `Command exited with code 2`',
    /(?:^|\n)[\t-\r ]*Command (?:exited with code (-?\d{1,10})|timed out after [^\n]{1,80}|aborted)[\t-\r ]*$/,
  ),
  behind(
    'OpenCode 1.18, Kilo 7.7: a command that took too long',
    /[\t-\r ]*<shell_metadata>[^<]{0,300}terminated command[^<]{0,300}<\/shell_metadata>[\t-\r ]*$/,
  ),
  behind('Continue 1.5: a command that took too long', /[\t-\r ]*\[Command timed out after [^\]\n]{1,80}\][\t-\r ]*$/),
  refusal,
]

/** What clients write where a tool has said nothing. */
const placeholders: ReadonlySet<string> = new Set([
  '',
  // OpenCode 1.18, Kilo 7.7, pi 0.73
  '(no output)',
  // Claude Code 1
  'Tool ran without output or errors',
  '<system>Tool ran without output or errors</system>',
  // Qwen Code 0.24, Gemini CLI
  '(empty)',
  '(none)',
  // SWE-agent
  'Your command ran successfully and did not produce any output.',
])

/** Claude Code 2.1 and Qwen Code 0.24: `(Bash completed with no output)`, `(read_file completed with no output)`. */
const completed = /^\([\w.-]{1,64} completed with no output\)$/

/** The longest of them, and room around it. */
const PLACEHOLDER_CHARS = 128

/** Whether a text, trimmed, stands for nothing. */
const isPlaceholder = (text: string): boolean =>
  text.length <= PLACEHOLDER_CHARS && (placeholders.has(text) || completed.test(text))

/** A frame may stand in another: Codex runs `apply_patch` in a shell. */
const NESTED = 3

/** Takes clients' frames away; the text itself where there is none. */
export const unframed = (text: string): Framed => {
  let framed: Framed = { body: text, failed: null }
  for (let depth = 0; depth < NESTED; depth++) {
    const inner = once(framed.body)
    if (inner === undefined) break
    framed = { body: inner.body, failed: inner.failed ?? framed.failed }
    if (inner.body.length === text.length) break
  }
  return isPlaceholder(trimmed(framed.body)) ? { ...framed, body: '' } : framed
}

const once = (text: string): Framed | undefined => {
  for (const frame of frames) {
    const framed = frame.read(text)
    if (framed !== undefined) return framed
  }
}

const opening =
  /^[\t-\r ]*(?:[[{<(]|Exit code|Command|Output: |Stdout: |Process |Wall time|Chunk ID|Original token|Total output)/

/** Whether a text that begins so may be framed, or be JSON; a frame that stands behind a text is known by its words. */
export const opensFrame = (beginning: string): boolean => opening.test(beginning) || mayRefuse(beginning)
