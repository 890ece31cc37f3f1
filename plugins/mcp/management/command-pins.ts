import { GuardError } from 'guard-gateway/core'
import { allShown } from './all-shown.ts'
import { type Asked, got, posted, printed } from './asking.ts'
import type { ServersView, ServerView } from './server-schemas.ts'

/** Prints the tools whose definition is not the one that was trusted, and what is other about it. */
export const listPins = async (asked: Asked): Promise<number> => {
  printed<ServersView>(await got(asked, '/servers'), asked, ({ servers }) => {
    const lines = servers.flatMap(unpinned)
    if (lines.length === 0) asked.io.err.write('Every tool that was seen is as it was trusted.\n')
    return lines
  })
  return 0
}

const unpinned = ({ id, tools }: ServerView): readonly string[] =>
  tools
    .filter(({ pin }) => pin === 'new' || pin === 'changed')
    .flatMap(({ name, pin, fingerprint, difference }) => [
      `${allShown(id)}  ${pin.padEnd(7)}  ${allShown(name)}  ${(fingerprint ?? '').slice(0, 16)}`,
      ...(difference ?? []).map((line) => `    ${allShown(line)}`),
    ])

/** Trusts definitions as they stand: of the named tools, or with `--all` of every one. With `--fingerprint` only those that begin with what was said; throws VERSION_CONFLICT, nothing trusted, if one does not. Throws USAGE if neither is said. */
export const acceptPins = async (asked: Asked): Promise<number> => {
  const [server_id = '', ...names] = asked.input.args
  const all = asked.input.options.all === true
  if (all === names.length > 0)
    throw new GuardError('USAGE', 'Name the tools whose definitions are to be trusted, or say --all.')
  const { fingerprint } = asked.input.options
  const shown = fingerprint === undefined ? {} : { fingerprints: [fingerprint].flat() }
  const body = { tools: all ? 'all' : names, ...shown }
  const answer = await posted(asked, `/servers/${encodeURIComponent(server_id)}/pins`, body)
  printed<{ readonly accepted: readonly string[] }>(answer, asked, ({ accepted }) =>
    accepted.length === 0 ? ['nothing has changed'] : accepted.map((name) => `trusted  ${allShown(name)}`),
  )
  return 0
}
