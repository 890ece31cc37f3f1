import { contribution, Kind, type Plugin } from 'guard-gateway/core'
import type { Static, TSchema } from 'typebox'

export { examineTexts, type PieceFinding } from './mcp-check/examine-texts.ts'
export {
  type McpResultCheck,
  mcpResultCheck,
  mcpResultCheckKind,
  type ResultContext,
  type ResultFinding,
  type ResultPart,
  type ToolResult,
} from './mcp-check/result-check.ts'

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
  /** Ends a sentence that begins with the pointer: `resolves outside the allowed folders`. */
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

export const mcpCheckKind = new Kind<McpCheck>('MCP check', {
  schema: 'object',
  find: 'function',
  'prepare?': 'function',
  'compile?': 'function',
  'lint?': 'prompt',
})

const checkContribution = contribution('mcp-check', mcpCheckKind)

/** A check whose options take their type from the schema beside them. */
export const mcpCheck = <O extends TSchema = TSchema>(entry: McpCheck<O>): McpCheck<O> & Plugin =>
  checkContribution(entry as McpCheck) as unknown as McpCheck<O> & Plugin
