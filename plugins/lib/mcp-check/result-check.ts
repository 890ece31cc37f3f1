import { contribution, Kind, type Plugin, type Redactor } from 'guard-gateway/core'
import type { Static, TSchema } from 'typebox'
import type { CheckLint } from '../mcp-check.ts'

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

export const mcpResultCheckKind = new Kind<McpResultCheck>('MCP result check', {
  schema: 'object',
  mends: 'text',
  find: 'function',
  'prepare?': 'function',
  'compile?': 'function',
  'lint?': 'prompt',
})

const resultCheckContribution = contribution('mcp-result-check', mcpResultCheckKind)

/** A check of results whose options take their type from the schema beside them. */
export const mcpResultCheck = <O extends TSchema = TSchema>(entry: McpResultCheck<O>): McpResultCheck<O> & Plugin =>
  resultCheckContribution(entry as McpResultCheck) as unknown as McpResultCheck<O> & Plugin
