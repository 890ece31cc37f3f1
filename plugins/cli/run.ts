import type { Gateway } from 'guard-gateway/core'
import { type Command, commandKind, type Input, type Io } from 'guard-gateway/lib/command'
import { terminalWidth } from 'guard-gateway/lib/terminal'
import { COMPLETE, suggest } from './completion/suggest.ts'
import { helpText } from './help.ts'
import { type Parsed, parse } from './parse.ts'
import { exitOf, exits, printError, printUsage } from './print.ts'
import { runCommand } from './run-command.ts'

/** Where a command line finds its commands. */
export interface CommandSource {
  readonly version: string
  /** A gateway of built-in plugins; nothing was read to make it. */
  builtIn(): Promise<Gateway>
  /** The gateway of the configuration, made for this command; `command` is undefined while it is only looked for. */
  configured(options: Input['options'], command: Command | undefined): Promise<Gateway>
  /** The configuration names plugins, which may bring commands. */
  extended(options: Input['options']): Promise<boolean>
  /** The address of the gateway that runs with the configuration. Throws GATEWAY_NOT_RUNNING. */
  address(options: Input['options']): Promise<string>
}

/** Runs one command line; resolves to the exit code. Never throws. */
export const runCli = async (argv: readonly string[], io: Io, source: CommandSource): Promise<number> => {
  let gateway: Gateway | undefined
  let options: Input['options'] = {
    json: argv.includes('--json'),
    verbose: argv.includes('--verbose') || argv.includes('--debug'),
  }
  try {
    gateway = await source.builtIn()
    if (argv[0] === COMPLETE) return await suggest(argv.slice(1), [...gateway.registry(commandKind)], io, source)
    const { parsed, commands } = await parseAll(argv, [...gateway.registry(commandKind)], source)
    options = parsed.options
    if (parsed.kind !== 'run') return answer(parsed, commands, source.version, io)
    const { command, input } = parsed
    const run = (found: Command): Promise<number> => runCommand(found, input, io, () => source.address(options))
    if (command.standalone === true && !(command.extensible !== undefined && (await source.extended(options))))
      return await run(command)
    const made = await source.configured(options, command).catch((error: unknown) => {
      if (command.extensible === 'if_usable') return undefined
      throw error
    })
    if (made === undefined) return await run(command)
    gateway = made
    const own = gateway.registry(commandKind).get(command.id) ?? (command.standalone === true ? command : undefined)
    return await run(own ?? gateway.registry(commandKind).need(command.id))
  } catch (error) {
    printError(error, options, io, gateway)
    return exitOf(error)
  }
}

/** Commands of the user's own plugins are looked for only where the built-in ones do not answer. */
const parseAll = async (argv: readonly string[], builtIn: readonly Command[], source: CommandSource) => {
  const first = { parsed: parse(builtIn, argv), commands: builtIn }
  const { kind, options } = first.parsed
  const overview = first.parsed.kind === 'help' && first.parsed.topic === undefined
  if ((kind !== 'unknown' && !overview) || !(await source.extended(options))) return first
  try {
    const commands = [...(await source.configured(options, undefined)).registry(commandKind)]
    return { parsed: parse(commands, argv), commands }
  } catch (error) {
    if (overview) return first
    throw error
  }
}

const answer = (
  parsed: Exclude<Parsed, { kind: 'run' }>,
  commands: readonly Command[],
  version: string,
  io: Io,
): number => {
  if (parsed.kind === 'help') io.out.write(helpText(commands, parsed, terminalWidth(io.out)))
  else if (parsed.kind === 'version')
    io.out.write(parsed.options.json === true ? `${JSON.stringify({ version })}\n` : `${version}\n`)
  else {
    const command = parsed.kind === 'wrong' ? parsed.command : undefined
    printUsage(parsed.message, parsed.options, io, command && `Run "guard ${command.id} --help" for what it takes.`)
    return exits.usage
  }
  return exits.done
}
