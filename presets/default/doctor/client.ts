import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { requireGateway } from 'guard-gateway/plugins/cli'
import type { Profile } from 'guard-gateway/plugins/clients'
import { type Check, error, type Finding, ok, reason, warning } from './check.ts'
import { upstreams } from './traffic.ts'

const run = promisify(execFile)
const PROBE_MS = 3_000

/** Checks of one client: a running gateway that accepts the key, an upstream of its API style, answers to its probes, and the client itself. */
export const checksOf = (profile: Profile): readonly Check[] =>
  profile.impossible === undefined
    ? [reachable, upstreamFor(profile), probes, () => installed(profile)]
    : [() => [error(`${profile.title}: ${profile.impossible}`, 'Use another client.')]]

const reachable: Check = async ({ config, file, address: url }) => {
  if (config === undefined) return []
  try {
    await requireGateway({ address: url, gateway_key: config.gateway_key, config: file })
    return [ok(`a gateway answers at ${url} and takes the key`)]
  } catch (thrown) {
    return [error(reason(thrown), '"guard run --start" starts one for as long as the client runs.')]
  }
}

const upstreamFor =
  ({ title, style, styles: spoken = [style] }: Profile): Check =>
  (context) => {
    if (context.config === undefined) return []
    const matching = context.config.upstreams.filter(({ styles }) => styles.some((one) => spoken.includes(one)))
    if (matching.length > 0) return upstreams({ ...context, config: { ...context.config, upstreams: matching } })
    return [error(`${title} speaks ${spoken.join(' or ')}, and no upstream does`, 'Add one under upstreams.')]
  }

/** Clients probe the gateway before they have a key. */
const probes: Check = async ({ health, address: url }) => {
  if (health === undefined) return []
  const statuses = await Promise.all(
    ['/', '/api/hello'].map(async (path) => {
      const signal = AbortSignal.timeout(PROBE_MS)
      return (await fetch(url + path, { method: 'HEAD', redirect: 'manual', signal })).status
    }),
  )
  if (statuses.every((status) => status < 400)) return [ok('probes without a key are answered')]
  return [error(`a probe without a key is answered with ${Math.max(...statuses)}`, 'Is a proxy in between?')]
}

const installed = async ({ id, title, commands, tested_with }: Profile): Promise<readonly Finding[]> => {
  const [command] = commands
  if (command === undefined) return []
  try {
    const { stdout } = await run(command, ['--version'], { timeout: PROBE_MS })
    const [found = 'of unknown version'] = /\d+(?:\.\d+)+/.exec(stdout) ?? []
    if (tested_with === undefined)
      return [
        warning(
          `${title} ${found} was never tried; its profile is by its documentation`,
          'See whether requests come through.',
        ),
      ]
    if (isOlder(found, tested_with))
      return [
        warning(
          `${title} ${found} is older than ${tested_with}, with which its profile was tried`,
          'Update it if no request comes through.',
        ),
      ]
    return [ok(`${title} ${found}, tried with ${tested_with}`)]
  } catch (thrown) {
    const missing = (thrown as NodeJS.ErrnoException).code === 'ENOENT'
    const why = missing ? 'is not on the PATH' : `cannot tell its version: ${reason(thrown)}`
    return [warning(`${command} ${why}`, `Install it, or use: guard run --as ${id} -- <path of ${command}>`)]
  }
}

/** By the numbers of both, as far as they go. */
const isOlder = (found: string, tried: string): boolean => {
  const [ours, theirs] = [tried, found].map(
    (version) => /\d+(?:\.\d+)+/.exec(version)?.[0].split('.').map(Number) ?? [],
  )
  const differs = ours?.findIndex((number, index) => number !== (theirs?.[index] ?? number)) ?? -1
  return differs !== -1 && (theirs?.[differs] ?? 0) < (ours?.[differs] ?? 0)
}
