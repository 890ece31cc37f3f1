import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import type { ValidateFunction } from 'ajv'
import { GuardError } from 'guard-gateway/core'
import { withFileLocation } from 'guard-gateway/lib/errors'
import { isShape } from 'guard-gateway/lib/json'
import { readYamlOffThread } from 'guard-gateway/lib/yaml'
import { configFaults, configWarnings } from './config/checks.ts'
import { type Environment, isServeOnlyFault, resolveReferences, upstreamsFrom } from './config/environment.ts'
import { type ConfigFault, type Refuse, refusal, schemaFaults } from './config/faults.ts'
import { type ProxyRoute, withProxyRoutes } from './config/network.ts'
import { patternFaults } from './config/patterns.ts'
import { type Config, configSchema } from './config/schema.ts'

export type { Config } from './config/schema.ts'

/** A configuration that can be used, and what deserves a word about it. */
export interface LoadedConfig {
  readonly config: Config
  readonly warnings: readonly string[]
  /** How each address in it is reached. */
  readonly routes: readonly ProxyRoute[]
  /** Proxies of the environment that cannot be used, for who is about to use them: without them the addresses are reached directly. */
  readonly environmentFaults: readonly ConfigFault[]
  /** For what turns out later to be wrong with the file. */
  readonly refuse: Refuse
}

/** What a configuration is read for: to serve by it, or to ask whoever does, without the credentials that takes. */
export type ConfigUse = 'serve' | 'ask'

/** Reads and checks a configuration file. Throws GuardError INVALID_CONFIG with one line a fault: file, line, column, key. */
export const loadConfig = async (file: string, env: Environment, use: ConfigUse = 'serve'): Promise<LoadedConfig> => {
  const loaded = await parseConfig(await contentOf(file), file, env, use)
  const { mode } = await stat(file)
  const open = process.platform !== 'win32' && (mode & 0o077) !== 0
  const warning = `${file} can be read by others and holds a key; run: chmod 600 ${file}`
  return open ? { ...loaded, warnings: [warning, ...loaded.warnings] } : loaded
}

const contentOf = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    throw new GuardError('INVALID_CONFIG', `${file} ${unread[code] ?? `cannot be read (${code})`}.`, { cause })
  }
}

const unread: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist; "guard gateway run --init" writes one',
  EISDIR: 'is a folder; name the file in it',
}

/** Checks the text of a configuration file. Relative paths in it are taken from the folder of `file`. */
export const parseConfig = async (
  text: string,
  file: string,
  env: Environment,
  use: ConfigUse = 'serve',
): Promise<LoadedConfig> => {
  const { value, locate } = await readText(text, file)
  const refuse = refusal({ name: basename(file), locate })
  const resolved = resolveReferences(value ?? {}, env)
  refuse(use === 'serve' ? resolved.faults : resolved.faults.filter((fault) => !isServeOnlyFault(fault)))
  const checked = await complete(resolved.value, env)
  refuse(checked.faults)
  const folder = dirname(resolve(file))
  const said = withResolvedPaths(checked.value as Config, folder, env)
  refuse([...configFaults(said), ...patternFaults(said.redaction.patterns)])
  const { faults, ...found } = await withProxyRoutes(said, folder, env)
  refuse(faults)
  return { ...found, warnings: configWarnings(said, env), refuse }
}

const readText = async (text: string, file: string) => {
  try {
    return await readYamlOffThread(import.meta.resolve('yaml'), text)
  } catch (cause) {
    if (!(cause instanceof GuardError)) throw cause
    throw new GuardError('INVALID_CONFIG', withFileLocation(basename(file), cause), { ...cause.place, cause })
  }
}

/** Fills in defaults, in place, and says what does not fit the schema. */
const complete = async (
  value: unknown,
  env: Environment,
): Promise<{ value: unknown; faults: readonly ConfigFault[] }> => {
  validator ??= compiled()
  const validate = await validator
  const given = isShape(value) && value.upstreams === undefined ? { ...value, upstreams: upstreamsFrom(env) } : value
  return { value: given, faults: validate(given) ? [] : schemaFaults(validate.errors ?? [], given) }
}

let validator: Promise<ValidateFunction> | undefined

const compiled = async (): Promise<ValidateFunction> => {
  const { Ajv } = await import('ajv')
  // that our own schema is one, its types say; to check that would take longer than the rest of the start
  return new Ajv({ allErrors: true, useDefaults: true, verbose: true, validateSchema: false }).compile(configSchema)
}

const withResolvedPaths = (config: Config, folder: string, env: Environment): Config => ({
  ...config,
  storage: { ...config.storage, file: resolve(folder, config.storage.file) },
  mcp: withResolvedMcpPaths(config.mcp, folder),
  replay: { ...config.replay, pricing: pricingFile(config.replay.pricing, folder, env) },
  plugins: config.plugins.map((file) => resolve(folder, file)),
})

const withResolvedMcpPaths = (mcp: Config['mcp'], folder: string): Config['mcp'] => ({
  ...mcp,
  policy: mcp.policy === '' ? '' : resolve(folder, mcp.policy),
  servers: Object.fromEntries(
    Object.entries(mcp.servers).map(([id, server]) => [
      id,
      server.cwd === undefined ? server : { ...server, cwd: resolve(folder, server.cwd) },
    ]),
  ),
})

/** Empty where there is none. */
const pricingFile = (file: string, folder: string, env: Environment): string => {
  if (env.GUARD_MODEL_PRICING) return resolve(env.GUARD_MODEL_PRICING)
  return file === '' ? '' : resolve(folder, file)
}
