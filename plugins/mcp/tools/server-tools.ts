import type { Arguments } from '#lib/mcp-check'
import type { PinState, SchemaState } from '../audit/enums.ts'
import type { ToolDescription } from './tool-description.ts'

/** The result of validating arguments by a tool's own schema. */
export interface ValidationResult {
  readonly state: SchemaState
  /** What is wrong: ends the sentence `Invalid arguments for 'x': …`. */
  readonly error?: string
  /** The same for records and what is sent of them: without names that the schema does not hold. */
  readonly recorded?: string
}

/** What the policy changes in a list of tools. */
export interface ListView {
  /** The tool leaves the list. */
  readonly hidden: (tool: string) => boolean
  /** A call of the tool may be answered by a question, so its `outputSchema` must allow one. */
  readonly canConfirm: (tool: string) => boolean
}

/** What the proxy knows of the tools of one server. */
export interface ServerTools {
  /** Reads one page of a list: JSON text of the result, and the cursor of its request. Gives the reason if the page must not be passed on. */
  observe(result: string, cursor?: string): Promise<string | undefined>
  /** The server sent `notifications/tools/list_changed`. */
  listChanged(): void
  /** Names of the tools in the list that was observed last. */
  names(): Iterable<string>
  fingerprint(tool: string): string | null
  /** What the server says of a tool in its own words; null before any list. */
  description(tool: string): ToolDescription | null
  /** Changes with every change of a definition; null before any list. */
  serverFingerprint(): string | null
  pin(tool: string): PinState
  /** The same of what the server says of itself: its instructions, for one. */
  serverPin(): PinState
  /** Validates arguments; synchronous, but for the first call of a tool. */
  validate(tool: string, args: Arguments): ValidationResult | Promise<ValidationResult>
  /** The same for a tool whose calls have been validated before. */
  check(tool: string, args: Arguments): ValidationResult
  /** Names that the definition of a tool holds, which records may show; none of a tool that is not listed. */
  shownNames(tool: string): ReadonlySet<string>
  /** The page as the client gets it. */
  rewrite(result: string, view: ListView): string
}
