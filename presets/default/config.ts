import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import type { ValidateFunction } from 'ajv'
import { GuardError } from 'guard-gateway/core'
import { withFileLocation } from '#lib/errors'
import { isJsonObject } from '#lib/json'
import { readLongYaml } from '#lib/yaml'
import { configErrors, configWarnings } from './config/checks.ts'
import { at, type ConfigError, type Refuse, refusal, schemaErrors } from './config/config-errors.ts'
import { emptyConfig } from './config/defaults.ts'
import {
  type Environment,
  holdsCredential,
  isServeOnlyError,
  resolveReferences,
  upstreamsFrom,
} from './config/environment.ts'
import { type ProxyRoute, withProxyRoutes } from './config/network.ts'
import { patternErrors } from './config/patterns.ts'
import type { Config } from './config/schema.ts'

export type { Config } from './config/schema.ts'

export interface LoadedConfig {
  readonly config: Config
  readonly warnings: readonly string[]
  /** A credential stands in the file itself. */
  readonly holds_credential: boolean
  /** Proxy and certificates of each address. */
  readonly routes: readonly ProxyRoute[]
  /** Unusable proxies of the environment. Only commands that use them report these; others connect directly. */
  readonly environmentErrors: readonly ConfigError[]
  /** Reports later errors with their location in the file. */
  readonly refuse: Refuse
}

/** Purpose of the configuration. `ask` calls a running gateway, and needs no upstream credentials. */
export type ConfigUse = 'serve' | 'ask'

/** Reads and checks a configuration file. Throws INVALID_CONFIG with one line per error: file, line, column, key. */
export const loadConfig = async (file: string, env: Environment, use: ConfigUse = 'serve'): Promise<LoadedConfig> => {
  const loaded = await parseConfig(await textOf(file), file, env, use)
  const { mode } = await stat(file)
  const open = process.platform !== 'win32' && (mode & 0o077) !== 0 && loaded.holds_credential
  const warning = `${file} can be read by others and holds a key; run: chmod 600 ${file}`
  return open ? { ...loaded, warnings: [warning, ...loaded.warnings] } : loaded
}

const textOf = async (file: string): Promise<string> => {
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

/** Parses and checks the text of a configuration file. Relative paths start at the folder of `file`. */
export const parseConfig = async (
  text: string,
  file: string,
  env: Environment,
  use: ConfigUse = 'serve',
): Promise<LoadedConfig> => {
  const { value, locate } = await readText(text, file)
  const refuse = refusal({ name: basename(file), locate })
  const resolved = resolveReferences(value ?? {}, env)
  refuse(use === 'serve' ? resolved.errors : resolved.errors.filter((error) => !isServeOnlyError(error)))
  const { storage } = (isJsonObject(resolved.value) ? resolved.value : {}) as { readonly storage?: unknown }
  const misplaced = storageErrors(isJsonObject(storage) ? storage : {})
  const checked = await complete(resolved.value, env)
  refuse([...checked.errors, ...misplaced])
  const folder = dirname(resolve(file))
  const absolute = withResolvedPaths(checked.value as Config, folder, env)
  refuse([...configErrors(absolute), ...patternErrors(absolute.redaction.patterns)])
  const { errors, ...found } = await withProxyRoutes(absolute, folder, env)
  refuse(errors)
  return { ...found, warnings: configWarnings(absolute, env), holds_credential: holdsCredential(value), refuse }
}

/** The configuration that the gateway writes has 8,000 characters. A thread for it would take a fifth of the start; a broken one of this length takes 0.1 s to read. */
const SHORT_CHARS = 16_384

const readText = async (text: string, file: string) => {
  try {
    return await readLongYaml(import.meta.resolve('yaml'), text, { short_chars: SHORT_CHARS })
  } catch (cause) {
    if (!(cause instanceof GuardError)) throw cause
    const code = cause.code === 'INVALID_YAML' ? 'INVALID_CONFIG' : cause.entry
    throw new GuardError(code, withFileLocation(basename(file), cause), { ...cause.place, cause })
  }
}

/** Fills in defaults in place and validates against the schema. */
const complete = async (
  value: unknown,
  env: Environment,
): Promise<{ value: unknown; errors: readonly ConfigError[] }> => {
  validator ??= compiled()
  const validate = await validator
  const withUpstreams =
    isJsonObject(value) && value.upstreams === undefined ? { ...value, upstreams: upstreamsFrom(env) } : value
  return {
    value: withUpstreams,
    errors: validate(withUpstreams) ? [] : schemaErrors(validate.errors ?? [], withUpstreams),
  }
}

let validator: Promise<ValidateFunction> | undefined

const compiled = async (): Promise<ValidateFunction> => (await import('./config/validator.ts')).configValidator()

const withResolvedPaths = (config: Config, folder: string, env: Environment): Config => ({
  ...config,
  server: { ...config.server, tls: withResolvedTls(config.server.tls, folder) },
  storage: { ...config.storage, file: resolve(folder, config.storage.file) },
  mcp: withResolvedMcpPaths(config.mcp, folder),
  replay: { ...config.replay, pricing: pricingFile(config.replay.pricing, folder, env) },
  plugins: config.plugins.map((entry) =>
    typeof entry === 'string' ? resolve(folder, entry) : { ...entry, use: resolve(folder, entry.use) },
  ),
})

const withResolvedTls = ({ passphrase, ...files }: Config['server']['tls'], folder: string) => {
  const at = (file: string): string => (file === '' ? '' : resolve(folder, file))
  return { passphrase, cert: at(files.cert), key: at(files.key), ca: at(files.ca) }
}

const withResolvedMcpPaths = (mcp: Config['mcp'], folder: string): Config['mcp'] => ({
  ...mcp,
  policy: mcp.policy === '' ? '' : resolve(folder, mcp.policy),
  audit_export: mcp.audit_export.map((place) =>
    place.file === undefined ? place : { ...place, file: resolve(folder, place.file) },
  ),
  servers: Object.fromEntries(
    Object.entries(mcp.servers).map(([id, server]) => [
      id,
      server.cwd === undefined ? server : { ...server, cwd: resolve(folder, server.cwd) },
    ]),
  ),
})

/** Empty if no file is configured. */
const pricingFile = (file: string, folder: string, env: Environment): string => {
  if (env.GUARD_MODEL_PRICING) return resolve(env.GUARD_MODEL_PRICING)
  return file === '' ? '' : resolve(folder, file)
}

/** Keys of `storage` that belong to one backend, with what to do where another one is chosen. */
const OWNED: Readonly<Record<string, { readonly backend: string; readonly help: string }>> = {
  file: { backend: 'sqlite', help: 'remove it; storage.url names the database' },
  synchronous: { backend: 'sqlite', help: 'remove it; the server decides, or ?options= in storage.url' },
  max_journal_bytes: { backend: 'sqlite', help: 'remove it' },
  url: { backend: 'postgres', help: 'set storage.backend: postgres, or remove it' },
  cluster: { backend: 'postgres', help: 'set storage.backend: postgres, or remove it' },
  pool: { backend: 'postgres', help: 'set storage.backend: postgres, or remove it' },
}

const MISSING = `is missing, and storage.backend is postgres; write "\${DATABASE_URL}", or postgres://user:password@host:5432/database`

/** Keys that the chosen backend does not read, in the section as it is written, without defaults. A backend of one's own is not asked. */
const storageErrors = (storage: Readonly<Record<string, unknown>>): readonly ConfigError[] => {
  const defaults: Readonly<Record<string, unknown>> = emptyConfig().storage
  const { backend = defaults.backend, url = '' } = storage
  if (backend !== 'sqlite' && backend !== 'postgres') return []
  const foreign = Object.entries(storage).flatMap(([key, value]) => {
    const owner = OWNED[key]
    if (owner === undefined || owner.backend === backend) return []
    // a default says nothing, but two names of a database contradict each other
    if (value === defaults[key] && key !== 'file') return []
    return at(['storage', key], `is of the backend ${owner.backend}, and storage.backend is ${backend}; ${owner.help}`)
  })
  return backend === 'postgres' && url === '' ? [...foreign, ...at(['storage', 'url'], MISSING)] : foreign
}
