import { cline } from './cline.ts'
import { codex } from './codex.ts'
import { exitFailed } from './exit-code.ts'
import { gemini } from './gemini.ts'
import { miniSwe, miniSweJson } from './mini-swe.ts'
import { refusal } from './refusals.ts'
import type { ResultFrame, UnframedResult } from './result-frame.ts'

/** A frame before the output. The first group of the pattern is the exit code. */
const prefixFrame = (client: string, pattern: RegExp): ResultFrame => ({
  client,
  read(text) {
    const found = pattern.exec(text)
    return found === null ? undefined : { body: text.slice(found[0].length), failed: exitFailed(found[1]) }
  },
})

/** A frame after the output is searched in the last so many characters. */
const TAIL_CHARS = 400

/** A frame after the output. The first group of the pattern is the exit code; without one the tool failed. */
const suffixFrame = (client: string, pattern: RegExp): ResultFrame => ({
  client,
  read(text) {
    const found = pattern.exec(text.slice(-TAIL_CHARS))
    return found === null
      ? undefined
      : { body: text.slice(0, text.length - found[0].length), failed: exitFailed(found[1]) ?? true }
  },
})

/** The frames of clients. Recordings are in `test/data/result-frames`. */
const frames: readonly ResultFrame[] = [
  miniSwe,
  miniSweJson,
  {
    client: 'Claude Code 2.1: `<tool_use_error>…</tool_use_error>`',
    read: (text) => (/^[\t-\r ]*<tool_use_error>/.test(text) ? { body: text, failed: true } : undefined),
  },
  prefixFrame(
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
      const body = parts.filter((part) => !isPlaceholder(part.trim())).join('\n')
      // a signal ended the process
      return { body, failed: code === '(none)' ? true : exitFailed(code) }
    },
  },
  gemini,
  cline,
  suffixFrame(
    'Copilot CLI 1.0: `<shellId: 0 completed with exit code 0>`',
    /[\t-\r ]*<(?:shellId: |command with )[^<>\n]{1,100} (?:completed|exited) with exit code (-?\d{1,10})>[\t-\r ]*$/,
  ),
  suffixFrame(
    'pi 0.73: `Command exited with code 2`',
    /(?:^|\n)[\t-\r ]*Command (?:exited with code (-?\d{1,10})|timed out after [^\n]{1,80}|aborted)[\t-\r ]*$/,
  ),
  suffixFrame(
    'OpenCode 1.18, Kilo 7.7: a command that took too long',
    /[\t-\r ]*<shell_metadata>[^<]{0,300}terminated command[^<]{0,300}<\/shell_metadata>[\t-\r ]*$/,
  ),
  suffixFrame(
    'Continue 1.5: a command that took too long',
    /[\t-\r ]*\[Command timed out after [^\]\n]{1,80}\][\t-\r ]*$/,
  ),
  refusal,
]

/** What clients write for a tool without output. */
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

/** No placeholder is longer. */
const PLACEHOLDER_CHARS = 128

/** Whether a trimmed text means that there was no output. */
const isPlaceholder = (text: string): boolean =>
  text.length <= PLACEHOLDER_CHARS && (placeholders.has(text) || completed.test(text))

/** At most so many frames are nested: Codex runs `apply_patch` in a shell. */
const MAX_NESTED = 3

/** Removes the frames of clients. A text without a frame stays as it is. */
export const unframeResult = (text: string): UnframedResult => {
  let framed: UnframedResult = { body: text, failed: null }
  for (let depth = 0; depth < MAX_NESTED; depth++) {
    const inner = unframeOnce(framed.body)
    if (inner === undefined) break
    framed = { body: inner.body, failed: inner.failed ?? framed.failed }
    if (inner.body.length === text.length) break
  }
  return isPlaceholder(framed.body.trim()) ? { ...framed, body: '' } : framed
}

const unframeOnce = (text: string): UnframedResult | undefined => {
  for (const frame of frames) {
    const framed = frame.read(text)
    if (framed !== undefined) return framed
  }
}
