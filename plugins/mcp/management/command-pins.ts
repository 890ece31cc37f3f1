import { GuardError } from 'guard-gateway/core'
import { columnLines, terminalWidth } from '#lib/terminal'
import { type CommandContext, getText, postText, printAnswer } from './command-context.ts'
import type { ServersView, ServerView } from './server-schemas.ts'
import { visibleLine } from './visible-line.ts'

/** Prints the tools whose definition is not the one that was trusted, and what is other about it. */
export const listPins = async (context: CommandContext): Promise<number> => {
  printAnswer<ServersView>(await getText(context, '/servers'), context, ({ servers }) => {
    const lines = unpinnedLines(servers, terminalWidth(context.io.out))
    if (lines.length === 0) context.io.err.write('Every tool that was seen is as it was trusted.\n')
    return lines
  })
  return 0
}

const unpinnedLines = (servers: readonly ServerView[], width: number | undefined): readonly string[] => {
  const tools = servers.flatMap(({ id, tools: some }) =>
    some.flatMap((tool) => (tool.pin === 'new' || tool.pin === 'changed' ? [{ ...tool, server_id: id }] : [])),
  )
  if (tools.length === 0) return []
  const rows = tools.map(({ server_id, name, pin, fingerprint }) => [
    visibleLine(name),
    visibleLine(server_id),
    pin,
    (fingerprint ?? '').slice(0, 16),
  ])
  const free = new Map([
    [0, 16],
    [1, 10],
  ])
  const [head = '', ...lines] = columnLines([['tool', 'server', 'pin', 'fingerprint'], ...rows], new Set(), {
    width,
    spare: [],
    free,
  })
  return [
    head,
    ...lines.flatMap((line, at) => [line, ...(tools[at]?.difference ?? []).map((text) => `    ${visibleLine(text)}`)]),
  ]
}

/** Trusts definitions as they stand: of the named tools, or with `--all` of every one. With `--fingerprint` only those that start with what was said; throws VERSION_CONFLICT, nothing trusted, if one does not. Throws USAGE if neither is said. */
export const acceptPins = async (context: CommandContext): Promise<number> => {
  const [server_id = '', ...names] = context.input.args
  const all = context.input.options.all === true
  if (all === names.length > 0)
    throw new GuardError('USAGE', 'Name the tools whose definitions are to be trusted, or say --all.')
  const { fingerprint } = context.input.options
  const expected = fingerprint === undefined ? {} : { fingerprints: [fingerprint].flat() }
  const body = { tools: all ? 'all' : names, ...expected }
  const answer = await postText(context, `/servers/${encodeURIComponent(server_id)}/pins`, body)
  printAnswer<{ readonly accepted: readonly string[] }>(answer, context, ({ accepted }) =>
    accepted.length === 0 ? ['nothing has changed'] : accepted.map((name) => `trusted  ${visibleLine(name)}`),
  )
  return 0
}
