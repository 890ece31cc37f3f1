import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import type { Command, Input, Io } from '#lib/command'
import { type ConfigError, type Refuse, refusal } from './config/config-errors.ts'
import { configFile } from './config/file.ts'
import type { Config } from './config/schema.ts'

export interface CommandConfig {
  readonly config: Config
  /** No file exists; these are the built-in values. */
  readonly builtIn: boolean
  readonly warnings: readonly string[]
  readonly environmentErrors: readonly ConfigError[]
  readonly refuse: Refuse
}

/** Path of the configuration file, and whether the user named it. */
export const located = (options: Input['options'], io: Io) =>
  configFile(typeof options.config === 'string' ? options.config : undefined, io.env, io.cwd)

/** The configuration, or built-in values if no file exists and the command allows it. Throws INVALID_CONFIG. */
export const configFor = async (
  command: Command | undefined,
  options: Input['options'],
  io: Io,
): Promise<CommandConfig> => {
  const { file, named } = located(options, io)
  if (named || existsSync(file)) return read(file, io, command)
  const backend = command?.unconfigured
  if (backend === undefined) throw absent(file)
  const config = (await import('./config/defaults.ts')).emptyConfig()
  const storage = { ...config.storage, backend, file: join(io.cwd, config.storage.file) }
  return { config: { ...config, storage }, builtIn: true, warnings: [], environmentErrors: [], refuse: refusal() }
}

const absent = (file: string): GuardError =>
  new GuardError(
    'INVALID_CONFIG',
    `There is no ${file}. Go to the folder of your configuration, name it with --config, or write one with "guard gateway run".`,
  )

/** Commands that use the credentials of the configuration. */
const serving: ReadonlySet<string> = new Set(['gateway run', 'mcp serve', 'doctor'])

const read = async (file: string, io: Io, command: Command | undefined): Promise<CommandConfig> => {
  const { loadConfig } = await import('./config.ts')
  const use = serving.has(command?.id ?? '') ? 'serve' : 'ask'
  const { warnings, ...loaded } = await loadConfig(file, io.env, use)
  return { ...loaded, builtIn: false, warnings: warnings.filter((text) => concerns(text, command)) }
}

/** Command lookup gets no warnings. The warning about missing upstreams concerns only commands that serve model requests. */
const concerns = (warning: string, command: Command | undefined): boolean =>
  command !== undefined && (command.id === 'gateway run' || !warning.startsWith('No upstream'))
