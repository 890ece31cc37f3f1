import type { ToolCall } from './replies.ts'

/** What a model calls, without the id of the call. */
export type Call = Omit<ToolCall, 'id' | 'tokens'>

/** A change of a file: `from` stands once in it. */
export interface Change {
  /** Absolute path. */
  readonly file: string
  readonly from: string
  readonly to: string
}

/** How an agent's own tools are called. */
export interface Tools {
  readonly shell: (command: string) => Call
  readonly read: (file: string) => Call
  readonly edit: (change: Change) => Call
  /** Starts a command that goes on beside the conversation. */
  readonly background: (command: string) => Call
  /** Asks how that command is, for the nth time from 0; `said` is the text of the request, with all the answers so far. */
  readonly poll: (said: string, nth: number) => Call
  /** What each answer to `poll` holds while the command goes on, in the text of a request. */
  readonly running: RegExp
  /** Gives a task to another agent of the same program. */
  readonly delegate?: (task: string) => Call
  /** Ends the task, where words alone do not. */
  readonly finish?: (words: string) => Call
}

/** Where an agent finds its model. */
export interface Connection {
  /** `http://127.0.0.1:8787`, of the gateway or of the provider itself. */
  readonly address: string
  readonly key: string
  readonly home: string
}

/** What points an agent at a connection. */
export interface Pointed {
  /** Stand before the agent's own arguments. */
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Text by path below home. */
  readonly files?: Readonly<Record<string, string>>
  /** Arguments of a first call of the command, which logs in. */
  readonly login?: readonly string[]
}

/** A coding agent from npm, and how it is driven without a person. */
export interface Agent {
  /** Client id of `guard setup`, where it has one. */
  readonly id: string
  readonly package: string
  readonly version: string
  /** Run once behind the installation, since install scripts are off: a file of the package. */
  readonly prepare?: string
  readonly command: string
  readonly model: string
  readonly args: (task: string) => readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly point: (connection: Connection) => Pointed
  readonly tools: Tools
  /** It keeps one WebSocket for its requests. */
  readonly uses_websocket?: true
  /** It ends itself when one call is made five times running. */
  readonly stops_itself?: true
  /** Whether `guard run` and the profile of `guard setup` are tried with it too, or the profile alone. */
  readonly has_profile?: true | 'no run'
}

/** An agent that cannot be had, and why. */
export interface Absent {
  readonly id: string
  readonly reason: string
}

/** The first text that an expression finds, or nothing. */
export const found = (text: string, expression: RegExp): string => expression.exec(text)?.[1] ?? ''

/** A job that a plain shell leaves behind, and a look at it, for agents without a tool of their own for that. */
export const shellJob = (shell: Tools['shell']): Pick<Tools, 'background' | 'poll' | 'running'> => ({
  background: (command) =>
    shell(`echo running > job.status; (${command}; echo ended > job.status) > /dev/null 2>&1 < /dev/null &`),
  poll: () => shell('sleep 1; cat job.status'),
  running: /"running\\n/g,
})
