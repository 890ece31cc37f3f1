import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { AskStream, Input, Io } from '#lib/command'
import { readJson } from '#lib/json'
import { APPROVER_HEADER } from '../approvals/index.ts'

/** Calls `work` with a client of the running gateway, or of its storage where none runs. */
export type UseApi = <T>(work: (ask: AskStream) => Promise<T>) => Promise<T>

/** What a command gets: the client of the API, its input and its output. */
export interface CommandContext {
  readonly ask: AskStream
  readonly input: Input
  readonly io: Io
  /** Milliseconds since 1970. */
  readonly now: number
}

const BASE = '/api/v1/mcp'

/** The response to a GET, as text. */
export const getText = async ({ ask }: Pick<CommandContext, 'ask'>, path: string): Promise<string> =>
  text(await ask('GET', BASE + path))

/** The response to a GET, as a stream. */
export const getStream = ({ ask }: Pick<CommandContext, 'ask'>, path: string): Promise<Readable> =>
  ask('GET', BASE + path)

/** The response to a POST with the approver's key, as text. */
export const postText = async ({ ask, input, io }: CommandContext, path: string, body: object): Promise<string> => {
  const key = input.options.approverKey ?? io.env.GUARD_APPROVER_KEY
  const headers = { 'x-guard-via': 'cli', ...(key === undefined ? {} : { [APPROVER_HEADER]: String(key) }) }
  return text(await ask('POST', BASE + path, JSON.stringify(body), headers))
}

/** A query string of flags, by the names of the filters they stand for. */
export const queryOf = (input: Input, names: Readonly<Record<string, string>>): string => {
  const query = new URLSearchParams()
  for (const [flag, name] of Object.entries(names)) {
    const value = input.options[flag]
    if (value !== undefined) query.set(name, String(value))
  }
  return query.size === 0 ? '' : `?${query}`
}

/** Prints the response as it is with `--json`, else the lines that `format` makes of it. */
export const printAnswer = <T>(
  answer: string,
  { input, io }: CommandContext,
  format: (value: T) => readonly string[],
): void => {
  const lines = input.options.json === true ? [answer] : format(readJson(answer) as T)
  for (const line of lines) io.out.write(`${line}\n`)
}
