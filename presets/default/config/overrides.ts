import { statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import type { Input } from '#lib/command'
import { writeError } from '#lib/errors'
import { proxyChoice } from '#lib/network'
import { makeFolders } from '#lib/private-folders'
import { terminalLine } from '#lib/text'
import { addressedServer, allServers } from './defaults.ts'
import type { Environment } from './environment.ts'
import { proxyAndCa } from './network.ts'
import type { Config } from './schema.ts'

/** Applies command-line flags to the configuration. Relative paths start at `cwd`; `env` may name a proxy. */
export const withOverrides = (
  config: Config,
  { host, port, data, policy, server, bundle }: Input['options'],
  cwd: string,
  command = '',
  env: Environment = {},
): Config => {
  for (const [name, value] of Object.entries({ host, data, policy }))
    if (value === '') throw new GuardError('USAGE', `--${name} needs a value.`)
  return {
    ...config,
    preset: presets.get(command) ?? config.preset,
    mcp: presets.has(command)
      ? {
          ...config.mcp,
          ...(typeof policy === 'string' ? { policy: resolve(cwd, policy) } : {}),
          bundles: chosenBundle(command, config.mcp.bundles, bundle),
          servers: { ...config.mcp.servers, ...serversIn([server ?? []].flat().map(String), config.network, env) },
        }
      : config.mcp,
    server: {
      ...config.server,
      ...(typeof host === 'string' ? { host } : {}),
      ...(typeof port === 'string' ? { port: portOf(port) } : {}),
    },
    storage: typeof data === 'string' ? withData(config.storage, data, cwd) : config.storage,
  }
}

/** Presets of commands that serve only some routes. */
const presets: ReadonlyMap<string, Config['preset']> = new Map([
  ['mcp run', 'mcp-stdio'],
  ['mcp serve', 'mcp-serve'],
])

/** Of `mcp run`, the bundle that is served on standard input and output; none without the flag. */
const chosenBundle = (command: string, bundles: Config['mcp']['bundles'], id: unknown): Config['mcp']['bundles'] => {
  if (command !== 'mcp run') return bundles
  if (typeof id !== 'string') return {}
  const bundle = (Object.hasOwn(bundles, id) ? bundles[id] : undefined) ?? (id === 'all' ? allServers() : undefined)
  if (bundle !== undefined) return { [id]: bundle }
  const known = [...new Set([...Object.keys(bundles), 'all'])].join(', ')
  throw new GuardError('USAGE', `There is no bundle "${terminalLine(id)}" in mcp.bundles; there is ${known}.`)
}

const serversIn = (
  entries: readonly string[],
  network: Config['network'],
  env: Environment,
): Config['mcp']['servers'] => {
  const servers = entries.map((text) => serverIn(text, network, env))
  const ids = servers.map(([id]) => id)
  const twice = ids.find((id, index) => ids.indexOf(id) < index)
  if (twice !== undefined) throw new GuardError('USAGE', `--server names "${twice}" twice.`)
  return Object.fromEntries(servers)
}

const serverIn = (
  text: string,
  network: Config['network'],
  env: Environment,
): [string, Config['mcp']['servers'][string]] => {
  const [, id, target] = /^(?!\.{1,2}=)([A-Za-z0-9._-]{1,64})=(https?:\/\/.+)$/.exec(text) ?? []
  if (id === undefined || target === undefined || URL.parse(target) === null)
    throw new GuardError('USAGE', `--server takes <id>=<address>, not "${text}".`)
  const { proxy } = proxyChoice(new URL(target), undefined, network, env)
  return [id, { ...addressedServer(), target, ...proxyAndCa({ proxy, ca: network.ca }) }]
}

const portOf = (text: string): number => {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new GuardError('USAGE', `--port takes a number from 0 to 65535, not "${text}".`)
}

const withData = (storage: Config['storage'], data: string, cwd: string): Config['storage'] => {
  if (storage.backend !== 'postgres') return { ...storage, file: databaseAt(data, cwd) }
  throw new GuardError('USAGE', '--data names a database file, and storage.backend is postgres. Leave it out.')
}

/** An existing folder, or a path with a trailing slash, contains guard.db. Any other path is the file. */
const databaseAt = (path: string, cwd: string): string => {
  const absolute = resolve(cwd, path)
  if (/[/\\]$/.test(path)) makeFolder(absolute)
  return statSync(absolute, { throwIfNoEntry: false })?.isDirectory() ? join(absolute, 'guard.db') : absolute
}

const makeFolder = (folder: string): void => {
  try {
    makeFolders(folder)
  } catch (error) {
    throw writeError(folder, error, 'Name another with --data.')
  }
}
