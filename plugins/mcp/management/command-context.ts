import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { AskStream, Input, Io } from 'guard-gateway/core'
import { readJson } from 'guard-gateway/lib/json'
import { APPROVER_HEADER } from '../approvals/index.ts'

/** Lets work ask the gateway that runs, or its storage where none does. */
export type UseApi = <T>(work: (ask: AskStream) => Promise<T>) => Promise<T>

/** What a command that asks works with. */
export interface CommandContext {
  readonly ask: AskStream
  readonly input: Input
  readonly io: Io
}

const BASE = '/api/v1/mcp'

/** The answer to a GET, as text. */
export const getText = async ({ ask }: Pick<CommandContext, 'ask'>, path: string): Promise<string> =>
  text(await ask('GET', BASE + path))

/** The stream that answers a GET. */
export const getStream = ({ ask }: Pick<CommandContext, 'ask'>, path: string): Promise<Readable> =>
  ask('GET', BASE + path)

/** The answer to a POST that an approver makes, as text. */
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

/** Prints the answer as it is where JSON is wanted, else what `told` makes of it. */
export const printAnswer = <T>(
  answer: string,
  { input, io }: CommandContext,
  told: (value: T) => readonly string[],
): void => {
  const lines = input.options.json === true ? [answer] : told(readJson(answer) as T)
  for (const line of lines) io.out.write(`${line}\n`)
}
