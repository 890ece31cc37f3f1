import { contribution, Kind, type Plugin, type Redactor } from 'guard-gateway/core'
import type { Static, TSchema } from 'typebox'
import { inTurns, Pace } from '#lib/time-slice'

/** The arguments of a tool call: a parsed JSON object whose members are all own properties, `__proto__` included. */
export type Arguments = Readonly<Record<string, unknown>>

/** What a check may know beside the arguments. */
export interface CheckContext {
  readonly server_id: string
  readonly tool: string
  /** The folder the tool runs in, where it is known: that of the child process. Absolute. */
  readonly cwd: string | undefined
  /** Files that belong to the gateway itself: configuration, policy, database. Absolute; the same list for all calls. */
  readonly own_files?: readonly string[]
}

/** Something in a call that a check objects to. */
export interface CheckFinding {
  /** JSON pointer into the arguments; empty for the whole of them. */
  readonly pointer: string
  /**
   * Ends a sentence that begins with the pointer: `resolves outside the allowed folders`. What it repeats of the arguments stands in
   * double quotes (`quoted` of `guard-gateway/lib/text`): the client reads it, records leave it out.
   */
  readonly reason: string
  /** False: the check could not tell, which counts as a violation. */
  readonly certain: boolean
}

/** A use of a check that works and yet promises less than it seems to. */
export interface CheckLint {
  /** `SHELL_DENY_ONLY` and the like. */
  readonly code: string
  readonly message: string
}

/**
 * Judges the arguments of tool calls. `id` is its key in a policy's `checks`, `schema` says what stands there;
 * it may refer to `#/$defs/pointers`, `pointer`, `strings` and `optional` of the policy's schema.
 */
export interface McpCheck<Options extends TSchema = TSchema> {
  readonly id: string
  readonly schema: Options
  /** Loads what the check needs, once, before a policy that uses it goes live. */
  prepare?(): Promise<void>
  /** Lower-cases, resolves or compiles what a policy says, once at its load; throws GuardError INVALID_POLICY for what the schema cannot tell. The result is what `find` gets. */
  compile?(options: Static<Options>): Promise<Static<Options>>
  /** What to warn about in options that the schema accepts; called after `prepare`. */
  lint?(options: Static<Options>): readonly CheckLint[]
  /**
   * None: the call passes. One that throws or rejects counts as unable to tell, and so does a promise that takes over 10 s.
   * Nothing else happens while it works at a stretch: more than some milliseconds of work are a promise, with turns of others in between
   * (`findViolations`, `inTurns`) or in a process of its own (`parserProcess`). `args` never change meanwhile. At most 100 findings of a call are told.
   */
  find(
    args: Arguments,
    options: Static<Options>,
    at: CheckContext,
  ): readonly CheckFinding[] | Promise<readonly CheckFinding[]>
}

const shape = {
  schema: 'object',
  find: 'function',
  'prepare?': 'function',
  'compile?': 'function',
  'lint?': 'prompt',
} as const

export const mcpCheckKind = new Kind<McpCheck>('MCP check', shape)

const checkContribution = contribution('mcp-check', mcpCheckKind)

/** A check whose options take their type from the schema beside them. */
export const mcpCheck = <O extends TSchema = TSchema>(entry: McpCheck<O>): McpCheck<O> & Plugin =>
  checkContribution(entry as McpCheck) as unknown as McpCheck<O> & Plugin

/** Characters of a text that are examined at a time. */
const PIECE_CHARS = 16_384
/** Time that the texts of one result may take, turns of others apart, in milliseconds. */
const MAX_WORK_MS = 1_000
/** More is not told of one result. */
const MAX_FINDINGS = 1_000

/** What is wrong in a piece; `start` and `end` of its edit count from the beginning of the piece. */
export type PieceFinding = Omit<ResultFinding, 'pointer'>

/**
 * What a check objects to in the texts of a result. Long ones are examined in pieces of whole lines, with the turns of others in between;
 * what there is no time for is a finding that nobody could tell, whose edit leaves it out.
 */
export const examineTexts = (
  result: ToolResult,
  examine: (piece: string, part: ResultPart) => readonly PieceFinding[],
  max_work_ms = MAX_WORK_MS,
): readonly ResultFinding[] | Promise<readonly ResultFinding[]> =>
  inTurns(findings(result, examine, new WorkTime(max_work_ms)), new Pace())

/** Time spent between `begin` and `end`, turns of others apart. */
class WorkTime {
  readonly #most: number
  #spent = 0

  constructor(most: number) {
    this.#most = most
  }

  get isOver(): boolean {
    return this.#spent > this.#most
  }

  during<T>(work: () => T): T {
    const since = performance.now()
    const made = work()
    this.#spent += performance.now() - since
    return made
  }
}

function* findings(
  { parts }: ToolResult,
  examine: (piece: string, part: ResultPart) => readonly PieceFinding[],
  time: WorkTime,
): Generator<undefined, readonly ResultFinding[]> {
  const found: ResultFinding[] = []
  for (const part of parts) {
    if (part.kind === 'data') continue
    for (const [start, end] of piecesOf(part.text)) {
      if (time.isOver || found.length >= MAX_FINDINGS) {
        found.push(unexamined(part, start))
        break
      }
      const examined = time.during(() => examine(part.text.slice(start, end), part))
      found.push(...examined.map((one) => placed(one, part, start)))
      yield
    }
    if (found.length > MAX_FINDINGS) return [...found, TOO_MANY]
  }
  return found
}

const placed = ({ edit, ...finding }: PieceFinding, { pointer }: ResultPart, offset: number): ResultFinding => ({
  ...finding,
  pointer,
  ...(edit === undefined ? {} : { edit: { ...edit, start: edit.start + offset, end: edit.end + offset } }),
})

const unexamined = ({ pointer, text }: ResultPart, start: number): ResultFinding => {
  const left = `${text.length - start} characters`
  return {
    pointer,
    reason: `was not examined to its end: ${left} are left`,
    certain: false,
    edit: { start, end: text.length, text: `[${left} were not examined by Guard and are left out]` },
  }
}

const TOO_MANY: ResultFinding = { pointer: '', reason: `has more than ${MAX_FINDINGS} findings`, certain: false }

/** Where pieces begin and end: after a line, or a blank, and never inside of a private key. */
function* piecesOf(text: string): Generator<readonly [start: number, end: number]> {
  let start = 0
  while (text.length - start > PIECE_CHARS) {
    const end = pieceEnd(text, start)
    yield [start, end]
    start = end
  }
  if (start < text.length) yield [start, text.length]
}

const pieceEnd = (text: string, start: number): number => {
  const latest = start + PIECE_CHARS
  const earliest = start + PIECE_CHARS / 2
  const key = text.lastIndexOf('-----BEGIN', latest)
  const before = key > earliest && text.lastIndexOf('-----END', latest) < key ? key : latest
  const line = text.lastIndexOf('\n', before - 1) + 1
  if (line > earliest) return line
  const blank = text.lastIndexOf(' ', before - 1) + 1
  return blank > earliest ? blank : before
}

/** A text, or other data, in the result of a tool call. */
export interface ResultPart {
  /** JSON pointer into the result. */
  readonly pointer: string
  /**
   * `text`: of the content, embedded resources included; `structured`: a text in `structuredContent`; `name`: a long name of a member of it;
   * `data`: an image, audio or a blob, whose `text` is empty.
   */
  readonly kind: 'text' | 'structured' | 'name' | 'data'
  readonly text: string
  /** UTF-8 bytes of the text, or of the data itself. */
  readonly bytes: number
}

/** What came back from a tool. */
export interface ToolResult {
  readonly parts: readonly ResultPart[]
  /** UTF-8 bytes of `structuredContent` as JSON; 0 if there is none. */
  readonly structured_bytes: number
  /** UTF-8 bytes of the whole message. */
  readonly bytes: number
}

/** What a check of results may know beside them. */
export interface ResultContext {
  readonly server_id: string
  readonly tool: string
  /** Hides secrets, and leaves mail addresses alone. */
  readonly redact: Redactor
}

/** Something in a result that a check objects to. */
export interface ResultFinding {
  /** That of a part; empty for the whole result. */
  readonly pointer: string
  /** Ends a sentence that begins with the pointer, and repeats nothing of the result: the client reads it. */
  readonly reason: string
  /** False: the check could not tell. */
  readonly certain: boolean
  /** What mends it: this text in the place of the part's characters from `start` to `end`; of data, in the place of all. Absent: nothing but withholding the result does. */
  readonly edit?: { readonly start: number; readonly end: number; readonly text: string }
}

/**
 * Looks at the results of tool calls. `id` is its key under `results` of a policy, `schema` says what stands there beside `action`;
 * it may refer to `#/$defs/strings` of the policy's schema.
 */
export interface McpResultCheck<Options extends TSchema = TSchema> {
  readonly id: string
  readonly schema: Options
  /** The action beside `shadow` and `deny`: what its edits do. */
  readonly mends: 'redact' | 'cut'
  /** Loads what the check needs, once, before a policy that uses it goes live. */
  prepare?(): Promise<void>
  /** Works the options out once, when a policy is loaded; throws GuardError INVALID_POLICY for what the schema cannot tell. The result is what `find` gets. */
  compile?(options: Static<Options>): Promise<Static<Options>>
  lint?(options: Static<Options>): readonly CheckLint[]
  /**
   * None: the result passes. One that throws or rejects counts as unable to tell, and so does a promise that takes over 10 s. Results can have
   * megabytes, and nothing else happens while it works at a stretch: `examineTexts` takes turns and keeps within a second.
   */
  find(
    result: ToolResult,
    options: Static<Options>,
    at: ResultContext,
  ): readonly ResultFinding[] | Promise<readonly ResultFinding[]>
}

declare module 'guard-gateway/core' {
  interface Services {
    /** Hides secrets, and leaves mail addresses alone. */
    resultRedactor: Redactor
  }
}

export const mcpResultCheckKind = new Kind<McpResultCheck>('MCP result check', { ...shape, mends: 'text' })

const resultCheckContribution = contribution('mcp-result-check', mcpResultCheckKind)

/** A check of results whose options take their type from the schema beside them. */
export const mcpResultCheck = <O extends TSchema = TSchema>(entry: McpResultCheck<O>): McpResultCheck<O> & Plugin =>
  resultCheckContribution(entry as McpResultCheck) as unknown as McpResultCheck<O> & Plugin
