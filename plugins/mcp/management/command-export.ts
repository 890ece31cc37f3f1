import { outputOf } from 'guard-gateway/lib/terminal'
import { type Asked, queryOf, streamed } from './asking.ts'

const filters = { format: 'format', serverId: 'server_id', since: 'since' }

/** Writes the audit bundle. Throws USAGE for a file that exists already. */
export const exportAudit = async (asked: Asked): Promise<number> => {
  const { io, input } = asked
  const { output, quiet } = input.options
  const write = await outputOf(input.options, io)
  await write(await streamed(asked, `/export${queryOf(input, filters)}`))
  if (output !== undefined && quiet !== true) io.err.write(`wrote ${String(output)}\n`)
  return 0
}
