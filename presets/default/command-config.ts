import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import type { Command, Input, Io } from 'guard-gateway/lib/command'
import { type ConfigFault, type Refuse, refusal } from './config/faults.ts'
import { configFile } from './config/file.ts'
import type { Config } from './config/schema.ts'

/** A configuration that can be used, and what deserves a word about it. */
export interface CommandConfig {
  readonly config: Config
  /** Nobody has written one: these are built-in values. */
  readonly builtIn: boolean
  readonly warnings: readonly string[]
  readonly environmentFaults: readonly ConfigFault[]
  readonly refuse: Refuse
}

/** Where a command line finds its configuration, and whether somebody named the file. */
export const located = (options: Input['options'], io: Io) =>
  configFile(typeof options.config === 'string' ? options.config : undefined, io.env, io.cwd)

/** The configuration, or built-in values where there is no file and the command can do without. Throws INVALID_CONFIG. */
export const configFor = async (
  command: Command | undefined,
  options: Input['options'],
  io: Io,
): Promise<CommandConfig> => {
  const { file, named } = located(options, io)
  if (named || (await exists(file))) return read(file, io, command)
  const backend = command?.unconfigured
  if (backend === undefined) throw absent(file)
  const config = (await import('./config/defaults.ts')).emptyConfig()
  const storage = { ...config.storage, backend, file: join(io.cwd, config.storage.file) }
  return { config: { ...config, storage }, builtIn: true, warnings: [], environmentFaults: [], refuse: refusal() }
}

const absent = (file: string): GuardError =>
  new GuardError(
    'INVALID_CONFIG',
    `There is no ${file}. Go to the folder of your configuration, name it with --config, or write one with "guard gateway run".`,
  )

/** Commands that show the credentials of a configuration to others, or tell whether they are there. */
const serving: ReadonlySet<string> = new Set(['gateway run', 'mcp serve', 'doctor'])

const read = async (file: string, io: Io, command: Command | undefined): Promise<CommandConfig> => {
  const { loadConfig } = await import('./config.ts')
  const use = serving.has(command?.id ?? '') ? 'serve' : 'ask'
  const { warnings, ...loaded } = await loadConfig(file, io.env, use)
  return { ...loaded, builtIn: false, warnings: warnings.filter((text) => concerns(text, command)) }
}

/** While a command is only looked for, nothing does; that no upstream is there concerns who serves model requests. */
const concerns = (warning: string, command: Command | undefined): boolean =>
  command !== undefined && (command.id === 'gateway run' || !warning.startsWith('No upstream'))

/** Whether there is a file of this name. */
export const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  )
