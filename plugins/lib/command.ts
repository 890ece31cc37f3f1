import type { Readable } from 'node:stream'
import { Kind } from 'guard-gateway/core'

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

/** One command of the command line; `id` is one or two words. The number `run` gives is the exit code. */
export interface Command {
  readonly id: string
  readonly args?: string
  readonly summary: string
  /** Flag (`--port <number>`) to what it means. */
  readonly options?: Readonly<Record<string, string>>
  /** Words that an argument (`scenario`) or a flag (`--mode`) takes, for shells that complete them. */
  readonly choices?: Readonly<Record<string, readonly string[]>>
  /** One complete command line, shown by `--help`. */
  readonly example?: string
  /** Runs without a configuration file, on built-in plugins alone. */
  readonly standalone?: boolean
  /** Though it is standalone: where the configuration names plugins, they are there too; `if_usable`: unless it cannot be used. */
  readonly extensible?: true | 'if_usable'
  /** Where nobody has written a configuration yet it runs on built-in values, with a database in the working folder or one that is forgotten at the end. */
  readonly unconfigured?: 'sqlite' | 'memory'
  run(input: Input, io: Io): Promise<number>
}

/** Sends a request to a gateway's interface and gives the body of its answer; rejects with the error that it answers with. Text is sent as JSON, a stream as a file. */
export type AskStream = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: Readable | string,
  headers?: Readonly<Record<string, string>>,
) => Promise<Readable>

/** The same where JSON is sent and answered; undefined for an answer without a body. */
export type AskJson = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object) => Promise<unknown>

export const commandKind = new Kind<Command>('command', { summary: 'text', run: 'function' })
