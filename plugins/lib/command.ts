import type { Readable } from 'node:stream'
import { Kind } from 'guard-gateway/core'

declare module 'guard-gateway/core' {
  interface Services {
    /** There while a command of the command line runs. */
    records: RecordAccess
  }
}

/** What was typed after a command's name. */
export interface Input {
  readonly args: readonly string[]
  /** Flags by camelCase name, those for every command included; a value is text as it was typed. */
  readonly options: Readonly<Record<string, unknown>>
  /** Everything behind `--`, untouched, of a command whose `args` are `[-- command...]`; elsewhere that is part of `args`. */
  readonly rest: readonly string[]
}

/** Where a command reads and writes: results to `out`, everything else to `err`. */
export interface Io {
  readonly out: NodeJS.WritableStream
  readonly err: NodeJS.WritableStream
  /** What is typed; absent where nothing can be asked. */
  readonly in?: NodeJS.ReadableStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

/** Something that an argument or a flag may be, with what tells a person which one it is. */
export interface Suggestion {
  readonly value: string
  readonly meaning?: string
}

/** One command of the command line; `id` is one or two words. The number `run` gives is the exit code. */
export interface Command {
  readonly id: string
  readonly args?: string
  readonly summary: string
  /** Flag (`--port <number>`) to what it means. */
  readonly options?: Readonly<Record<string, string>>
  /** Words that an argument (`scenario`) or a flag (`--mode`) takes, for shells that complete them. */
  readonly choices?: Readonly<Record<string, readonly string[]>>
  /** The same for what is stored: asked when a shell completes an argument (`trace_id`) or a flag (`--session`). */
  readonly suggestions?: Readonly<Record<string, (input: Pick<Input, 'args'>) => Promise<readonly Suggestion[]>>>
  /** Complete command lines, shown by `--help`; the most common one first. */
  readonly example?: string | readonly string[]
  /** Its results are text to read: on a terminal, lines are broken between words, and what is longer than the screen goes through a pager. */
  readonly paged?: boolean | ((input: Input) => boolean)
  /** Path of the page that shows the same. Gives the command `--web`. */
  readonly page?: (input: Input) => string | Promise<string>
  /** The route that it stands for, `GET /api/v1/runs`: where a message names the route, the command line names the command. */
  readonly route?: string
  /** Runs without a configuration file, on built-in plugins alone. */
  readonly standalone?: boolean
  /** Though it is standalone: where the configuration names plugins, they are there too; `if_usable`: unless it cannot be used. */
  readonly extensible?: true | 'if_usable'
  /** Where nobody has written a configuration yet it runs on built-in values, with a database in the working folder or one that is forgotten at the end. */
  readonly unconfigured?: 'sqlite' | 'memory'
  run(input: Input, io: Io): Promise<number>
}

/** The body of an answer, with its headers. */
export type Answered = Readable & { readonly headers?: Readonly<Record<string, unknown>> }

/** Sends a request to a gateway's interface and gives the body of its answer; rejects with the error that it answers with. Text is sent as JSON, a stream as a file. */
export type AskStream = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: Readable | string,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answered>

/** The same where JSON is sent and answered; undefined for an answer without a body. */
export type AskJson = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object) => Promise<unknown>

/** What a command that reads or changes records gets. */
export interface CommandContext {
  readonly ask: AskJson
  readonly input: Input
  readonly io: Io
  /** Milliseconds since 1970. */
  readonly now: number
}

/**
 * How a command reaches records, to read and to change them: `work` asks the HTTP interface of the gateway that runs with this configuration;
 * where none does, that of its own gateway, opened for this on the same storage and closed afterwards. Routes of plugins are there too.
 * Rejects with the error that is answered; with STORAGE_UNAVAILABLE where no gateway runs and nothing is kept.
 */
export type RecordAccess = <T>(work: (ask: AskJson) => Promise<T>) => Promise<T>

export const commandKind = new Kind<Command>('command', { summary: 'text', run: 'function' })
