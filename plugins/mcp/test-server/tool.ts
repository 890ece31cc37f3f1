/** Arguments of a call, as they came. */
export type Arguments = Readonly<Record<string, unknown>>

/** One piece of what a tool or a prompt says, as MCP has it. */
export type Content = Readonly<Record<string, unknown>> & { readonly type: string }

/** The result of a call. */
export interface ToolResult {
  readonly content: readonly Content[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly isError?: boolean
}

/** What a tool can do while its call lasts. */
export interface Running {
  /** Aborted when the client cancels the call or the session ends. */
  readonly signal: AbortSignal
  /** Rejects if the call is cancelled meanwhile. */
  wait(ms: number): Promise<void>
  /** Sends a log message, if the client wants those of the level. */
  log(level: string, data: string): void
  /** Tells how far the call is, if the client gave a token for it. */
  progress(progress: number, total: number): void
  /** Asks the client; resolves to its result, rejects with its error or if it cannot be asked this. */
  ask(capability: string, method: string, params: object): Promise<Readonly<Record<string, unknown>>>
  /** Closes the stream that the answer would go to; the client has to fetch it. Does nothing where there is one stream. */
  letGo(): void
}

/** A tool of the test server. */
export interface TestTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: object
  readonly outputSchema?: object
  call(args: Arguments, running: Running): ToolResult | Promise<ToolResult>
}

/** A result of one text. */
export const text = (words: string): ToolResult => ({ content: [{ type: 'text', text: words }] })

/** A schema of an object. */
export const object = (
  properties: Readonly<Record<string, object>> = {},
  required = Object.keys(properties),
): object => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required }),
})

/** The string in an argument; empty if there is none. */
export const stringOf = (args: Arguments, name: string): string => {
  const value = args[name]
  return typeof value === 'string' ? value : ''
}

/** The number in an argument, at least 0 and at most `most`; 0 if there is none. */
export const numberOf = (args: Arguments, name: string, most: number): number => {
  const value = args[name]
  return typeof value === 'number' && value > 0 ? Math.min(value, most) : 0
}
