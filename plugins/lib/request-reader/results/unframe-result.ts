/** Beginnings of the texts that clients write for a tool that they did not run, or that failed. All are from recordings. */
const beginnings = [
  // Codex 0.169
  'apply_patch verification failed',
  'write_stdin failed',
  'failed to parse function arguments',
  'unsupported call: ',
  'unable to locate ',
  // OpenCode 1.18, Kilo 7.7
  'Could not find oldString',
  'No changes to apply',
  'File not found: ',
  'The \\w{1,64} tool was called with invalid arguments',
  'The arguments provided to the tool are invalid',
  'Model tried to call unavailable tool',
  'Invalid input for tool ',
  'ripgrep execution failed',
  // pi 0.73
  'Could not find the exact text',
  'No changes made',
  'Validation failed for tool',
  'E(?:NOENT|ACCES|ISDIR|NOTDIR|EXIST|PERM): ',
  // Qwen Code 0.24, Gemini CLI
  'Failed to edit',
  'params must have ',
  'Tool "[^"\\n]{1,128}" not found',
  'Command timed out after ',
  // Copilot CLI 1.0
  'No match found: ',
  'Path [^\\t-\\r ]{1,1024} (?:does not exist|already exists)',
  'Invalid input: ',
  "Tool '[^'\\n]{1,128}' does not exist",
  'The arguments for the tool call ',
  'shellId: [^\\t-\\r ]{1,128} not found',
  // mini-swe-agent 1
  '<exception>',
  // Continue 1.5
  'Error executing tool ',
  'Edit at index \\d{1,6}: ',
  'old_string and new_string must be different',
  'Required parameter "',
  // pi, Continue
  'Tool [^\\t-\\r ]{1,128} not found',
  // Node programs: what child_process says
  '(?:Error: )?Command failed\\b',
  // MCP servers of the official SDKs
  'MCP error -?\\d{1,6}',
  '(?:Input|Output) validation error',
  'Error calling tool ',
]

const refused = new RegExp(`^[\\t-\\r ]{0,64}(?:${beginnings.join('|')})`)

/** A tool result without the frame of its client. */
interface UnframedResult {
  /** The output of the tool itself; empty if it had none. */
  readonly body: string
  /** Null if the frame does not say whether the tool failed. */
  readonly failed: boolean | null
}

/** The text that a client writes around tool results. */
interface ResultFrame {
  /** The client, the recorded version, and an example. */
  readonly client: string
  /** Removes the frame; undefined if the text has another frame or none. */
  read(text: string): UnframedResult | undefined
}

/** A text of the client itself that reports a failure. It is recognised by its beginning: no output of a tool starts so. */
const refusal: ResultFrame = {
  client: 'every client: words of its own for a call that it refused, or that failed',
  read: (text) => (refused.test(text) ? { body: text, failed: true } : undefined),
}

/** Whether an exit code means failure; null without a code. */
const exitFailed = (code: string | undefined): boolean | null => (code === undefined ? null : Number(code) !== 0)

/** Longer results are not parsed. */
const CHARS = 200_000

/** mini-swe-agent 1: text between tags. */
const miniSwe: ResultFrame = {
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
const miniSweJson: ResultFrame = {
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

const end = '</untrusted_context>'

/** The fields after the output. Without an exit code and a signal the command succeeded. */
const fields =
  /\n(?:Error: [^\n]{0,2000}\n)?(?:Exit Code: (-?\d{1,10})\n)?(?:Signal: (-?\d{1,10})\n)?(?:Background PIDs: [^\n]{0,200}\n)?Process Group PGID: \d{1,10}[\t-\r ]*$/

/** Gemini CLI 0.61, as translating proxies pass it on: untrusted text between tags, with the output and a few fields. */
const gemini: ResultFrame = {
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

const head =
  /^(?:(?:Chunk ID|Wall time|Exit code|Process exited with code|Process running with session ID|Original token count|Total output lines):?[^\n]{0,200}\n){1,8}Output:[\t\v\f\r ]*(?:\n|$)/

/** Codex 0.169: lines about the process, then `Output:` and the output of the command. A process that still runs has no exit code. */
const codex: ResultFrame = {
  client: 'Codex 0.169: `Wall time: …`, `Process exited with code 0`, `Output:`',
  read(text) {
    const [lines] = head.exec(text) ?? []
    if (lines === undefined) return
    const [, code] = /^(?:Exit code:|Process exited with code) (-?\d{1,10})/m.exec(lines) ?? []
    return { body: text.slice(lines.length), failed: exitFailed(code) }
  },
}

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

interface Answer {
  readonly result?: unknown
  readonly success?: unknown
  readonly error?: unknown
}

const opening = /^\[?\{"(?:query|error)":/

/** Cline 3.0: one object for each command or file, with `query`, `result`, `success` and perhaps `error`. A refusal is `{"error": …}`. */
const cline: ResultFrame = {
  client: 'Cline 3.0: `[{"query": …, "result": …, "success": true}]`',
  read(text) {
    if (!opening.test(text) || text.length > CHARS) return
    const answers = parsed(text)
    if (answers === undefined || !answers.every(isAnswer)) return
    return framed(answers)
  },
}

const parsed = (text: string): readonly unknown[] | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : [value]
  } catch {
    return undefined
  }
}

const isAnswer = (value: unknown): value is Answer =>
  typeof value === 'object' &&
  value !== null &&
  (typeof (value as Answer).success === 'boolean' || typeof (value as Answer).error === 'string')

const framed = (answers: readonly Answer[]): UnframedResult => ({
  body: answers.map(bodyOf).join('\n'),
  failed: answers.some(({ success, error }) => success === false || typeof error === 'string'),
})

const bodyOf = ({ result, error }: Answer): string =>
  [result, error].filter((part) => typeof part === 'string').join('\n')

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
      const output = text.slice(head.length)
      const fields = output.lastIndexOf('\nExit Code: ')
      const [, code] = /^\nExit Code: (\(none\)|-?\d{1,10})/.exec(output.slice(Math.max(0, fields))) ?? []
      if (code === undefined) return
      const parts = output.slice(0, fields).split(/\n(?:Error|Stderr): /)
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
