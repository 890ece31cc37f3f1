import type { Suggestion } from '#lib/command'
import { readJson } from '#lib/json'
import { agoText } from '#lib/terminal'
import { waiting } from './command-approvals.ts'
import { type CommandContext, getText } from './command-context.ts'
import type { ServersView } from './server-schemas.ts'
import { visibleLine } from './visible-line.ts'

type Ask = Pick<CommandContext, 'ask'>

/** Approvals that wait for a decision, oldest first. `now`: milliseconds since 1970. */
export const suggestApprovals = async (context: Ask, now: number): Promise<readonly Suggestion[]> =>
  (await waiting(context)).map(({ id, tool, server_id, client, created_at }) => ({
    value: id,
    meaning: [
      `${visibleLine(tool)} on ${visibleLine(server_id)}`,
      ...(client === null ? [] : [visibleLine(client.name)]),
      agoText(Date.parse(created_at), now),
    ].join(', '),
  }))

const serversIn = async (context: Ask): Promise<ServersView['servers']> =>
  (readJson(await getText(context, '/servers')) as ServersView).servers

export const suggestServers = async (context: Ask): Promise<readonly Suggestion[]> =>
  (await serversIn(context)).map(({ id, name, tools }) => ({
    value: id,
    meaning: `${visibleLine(name)}, ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`,
  }))

/** Servers, then the tools of the server that is named whose definition is not the trusted one. */
export const suggestPins = async (
  context: Ask,
  [action, server_id]: readonly string[],
): Promise<readonly Suggestion[]> => {
  if (action !== 'accept') return []
  if (server_id === undefined) return suggestServers(context)
  const server = (await serversIn(context)).find(({ id }) => id === server_id)
  return (server?.tools ?? []).flatMap(({ name, pin }) =>
    pin === 'new' || pin === 'changed' ? [{ value: name, meaning: pin }] : [],
  )
}
