import { GuardError } from 'guard-gateway/core'
import type { Static } from 'typebox'
import type { CommandContext } from '#lib/command'
import { writeJson } from '#lib/json'
import { columnLines, listedTime, terminalWidth } from '#lib/terminal'
import { terminalLine } from '#lib/text'
import type { issuedKey, keysPage } from './schemas.ts'

/** Makes a key; only the key, which cannot be printed again, goes to stdout. */
export const createKey = async ({ ask, input, io }: CommandContext): Promise<void> => {
  const { name, scope, project, expires } = input.options
  if (name === undefined) throw new GuardError('USAGE', 'Say whose key it is: --name "Ada".')
  if (scope === undefined) throw new GuardError('USAGE', 'Say what the key is for: --scope read,operate.')
  const answer = (await ask('POST', '/api/keys', {
    name: String(name),
    scopes: listOf(scope),
    ...(project === undefined ? {} : { projects: listOf(project) }),
    ...(expires === undefined ? {} : { expires_in: String(expires) }),
  })) as Static<typeof issuedKey>
  if (input.options.json === true) return void io.out.write(`${writeJson(answer)}\n`)
  const { id, scopes } = answer.access_key
  io.err.write(`Key ${id} for ${scopes.join(', ')}; it is shown this once and kept nowhere:\n`)
  io.out.write(`${answer.key}\n`)
}

/** Prints the live keys, one a line, none of them itself. */
export const listKeys = async ({ ask, input, io, now }: CommandContext): Promise<void> => {
  const answer = (await ask('GET', '/api/keys')) as Static<typeof keysPage>
  if (input.options.json === true) return void io.out.write(`${writeJson(answer)}\n`)
  if (answer.keys.length === 0)
    return void io.err.write('There is no key with scopes. Make one with "guard key create".\n')
  const width = terminalWidth(io.out)
  const time = (text: string | null, none: string): string =>
    text === null ? none : listedTime(Date.parse(text), now, width !== undefined)
  const rows = answer.keys.map((key) => [
    terminalLine(key.id),
    terminalLine(key.name),
    `${terminalLine(key.prefix)}…`,
    key.scopes.join(','),
    terminalLine(key.projects?.join(',') ?? 'all'),
    time(key.created_at, ''),
    time(key.last_used_at, 'never'),
    time(key.expires_at, 'never'),
  ])
  const head = ['key', 'name', 'begins', 'scopes', 'projects', 'since', 'last used', 'ends']
  for (const line of columnLines([head, ...rows], new Set(), { width, spare: [5, 2] })) io.out.write(`${line}\n`)
}

/** Ends a key. */
export const revokeKey = async ({ ask, input, io }: CommandContext): Promise<void> => {
  const id = input.args[0] ?? ''
  await ask('DELETE', `/api/keys/${encodeURIComponent(id)}`)
  if (input.options.json === true) io.out.write(`${writeJson({ id, revoked: true })}\n`)
  else io.out.write(`${terminalLine(id)}  revoked\n`)
}

const listOf = (text: unknown): readonly string[] =>
  String(text)
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
