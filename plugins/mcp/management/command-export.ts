import { outputOf } from '#lib/terminal'
import { type CommandContext, getStream, queryOf } from './command-context.ts'

const filters = { format: 'format', serverId: 'server_id', since: 'since' }

/** Writes the audit bundle. Throws USAGE for a file that exists already. */
export const exportAudit = async (context: CommandContext): Promise<number> => {
  const { io, input } = context
  const { output, quiet } = input.options
  const write = await outputOf(input.options, io)
  await write(await getStream(context, `/export${queryOf(input, filters)}`))
  if (output !== undefined && quiet !== true) io.err.write(`wrote ${String(output)}\n`)
  return 0
}
