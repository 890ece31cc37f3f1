import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import { bytesText } from 'guard-gateway/lib/format'
import { requireGateway } from 'guard-gateway/plugins/cli'
import { checkPort } from 'guard-gateway/plugins/http'
import { version } from '../version.ts'
import { type Check, error, type Finding, ok, reason, warning } from './check.ts'

const SCARCE_BYTES = 1_000_000_000

/** Unsupported Node versions exit before this check. */
export const node: Check = () => [ok(`Node ${process.versions.node}`)]

/** Checks that the address is free, or that a gateway of this version uses it and accepts the key. */
export const address: Check = async ({ config, file, address: url, health }) => {
  if (config === undefined) return []
  if (health !== undefined) {
    try {
      await requireGateway({ address: url, gateway_key: config.gateway_key, config: file })
    } catch (thrown) {
      return [error(reason(thrown), '--config <file> looks at another configuration.')]
    }
    if (health.version === version) return [ok(`a gateway ${version} answers at ${url}`)]
    return [warning(`a gateway ${String(health.version)} answers at ${url}, this is ${version}`, 'Restart it.')]
  }
  try {
    await checkPort(config.server.host, config.server.port)
    return [ok(`${url} is free; no gateway runs`)]
  } catch (thrown) {
    return [error(reason(thrown), 'Change server.port, or stop the other program.')]
  }
}

/** The database, a plugin file or the MCP policy may prevent the start. */
const openFailure = (thrown: unknown): Finding => {
  if (!(thrown instanceof GuardError))
    return error(`the gateway cannot be opened: ${reason(thrown)}`, 'Run with --verbose and report it.')
  const subject = /^(DATABASE|STORAGE)_/.test(thrown.code) ? 'storage' : 'the gateway cannot be opened'
  return error(`${subject}: ${reason(thrown)}`, `guard explain ${thrown.code} tells more.`)
}

/** Checks that the database opens and the disk has space. */
export const storage: Check = async ({ config, gateway, unopened }) => {
  if (config === undefined) return []
  if (gateway === undefined) return [openFailure(unopened)]
  if (config.storage.backend === 'memory')
    return [warning('storage.backend is memory: everything is forgotten at the end', 'Set storage.backend: sqlite.')]
  if (config.storage.backend !== 'sqlite') return [ok(`storage ${config.storage.backend}`)]
  const { bavail, bsize } = await statfs(dirname(config.storage.file))
  const free = bavail * bsize
  return [
    ok(`storage ${config.storage.file}`),
    free < SCARCE_BYTES
      ? warning(`${bytesText(free)} of disk are free`, 'Free some, or lower replay.retention.')
      : ok(`${bytesText(free)} of disk are free`),
  ]
}
