import type { Command, Input, Io } from 'guard-gateway/lib/command'
import { openInBrowser } from 'guard-gateway/lib/terminal'
import { FieldFilter } from './json-fields.ts'
import { throughPager } from './pager.ts'

/** Runs a command with what every command can do: `--web`, chosen fields of `--json`, and the pager. `address`: of the gateway that runs; throws GATEWAY_NOT_RUNNING. */
export const runCommand = async (
  command: Command,
  input: Input,
  io: Io,
  address: () => Promise<string>,
): Promise<number> => {
  const { jsonFields, web } = input.options
  if (web === true && command.page !== undefined) {
    const running = await address()
    return openInBrowser(running, await command.page(input), input, io)
  }
  if (Array.isArray(jsonFields)) return withFields(command, input, io, jsonFields)
  const { paged = false } = command
  return (typeof paged === 'boolean' ? paged : paged(input))
    ? throughPager(io, input, (collected) => command.run(input, collected))
    : command.run(input, io)
}

const withFields = async (command: Command, input: Input, io: Io, fields: readonly string[]): Promise<number> => {
  const filter = new FieldFilter(fields, io.out)
  const code = await command.run(input, { ...io, out: filter }).catch(async (error: unknown) => {
    await filter.finish()
    throw error
  })
  await filter.finish()
  return code
}
