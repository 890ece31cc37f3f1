import { GuardError } from 'guard-gateway/core'
import type { Io } from '#lib/command'
import type { Mcp } from '../mcp.ts'
import type { SessionInfo } from '../session/session.ts'
import { StdioServer } from './stdio-server.ts'

/** Relays between standard input and output and the servers of a bundle, until the client or a signal ends it. Resolves to the exit code. */
export const runBundle = async (
  mcp: Mcp,
  bundle_id: string,
  about: SessionInfo,
  io: Io,
  stopRequested: Promise<void>,
): Promise<number> => {
  const door = (await mcp.bundles()).door(bundle_id)
  if (door === undefined)
    throw new GuardError('USAGE', `There is no bundle "${bundle_id}" with servers in it. Name servers in mcp.servers.`)
  const client = await door.open(about)
  const stdio = new StdioServer({ in: io.in ?? process.stdin, out: io.out }, client)
  await Promise.race([stdio.serve(), stdio.left, stopRequested])
  door.end(client, 'the client ended it')
  await stdio.abandon('The session has ended')
  return 0
}
