import dns from 'node:dns/promises'
import { isIP } from 'node:net'
import { plainSchema } from 'guard-gateway/core'
import { findViolations, textsAtPointers } from 'guard-gateway/lib/check-arguments'
import { type CheckFinding, mcpCheck } from 'guard-gateway/lib/mcp-check'
import { isGlobal, loadAddresses, spellsPrivate } from './http/address.ts'
import { hostEntry, isListed } from './http/hosts.ts'
import { isPrivateName } from './http/private-names.ts'
import { readUrl, type Target } from './http/url.ts'

type Scheme = 'http' | 'https'

interface Options {
  args: string[]
  hosts: string[]
  schemes?: Scheme[]
  ports?: number[]
  private_addresses?: 'deny' | 'allow'
  resolve_dns?: boolean
  optional?: boolean
}

const schema = plainSchema<Options>({
  type: 'object',
  additionalProperties: false,
  required: ['args', 'hosts'],
  properties: {
    args: { $ref: '#/$defs/pointers' },
    hosts: { $ref: '#/$defs/strings', description: 'exact, *.suffix, or * for any public host' },
    schemes: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { enum: ['http', 'https'] },
      default: ['https'],
    },
    ports: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'integer', minimum: 1, maximum: 65535 },
    },
    private_addresses: { enum: ['deny', 'allow'], default: 'deny' },
    resolve_dns: { type: 'boolean', default: false },
    optional: { $ref: '#/$defs/optional' },
  },
})

/** Allows URLs with listed hosts only, and no addresses of this machine or its network. */
export const httpHosts = mcpCheck({
  id: 'http',
  schema,
  prepare: loadAddresses,

  compile: async (options): Promise<Options> => ({ ...options, hosts: options.hosts.map(hostEntry) }),

  find(args, options): readonly CheckFinding[] | Promise<readonly CheckFinding[]> {
    const targets: PointedTarget[] = []
    const found = findViolations(textsAtPointers(args, options), ({ pointer, text, wrong }) => {
      if (text === undefined) return wrong
      const target = readUrl(text)
      if (typeof target !== 'string') targets.push({ pointer, target })
      const reason = typeof target === 'string' ? target : violation(target, options)
      return reason === undefined ? undefined : { reason, certain: true }
    })
    if (options.resolve_dns !== true || options.private_addresses === 'allow') return found
    return resolvedUnless(found, targets)
  },
})

interface PointedTarget {
  readonly pointer: string
  readonly target: Target
}

/** Resolves host names, unless the call already has a violation. */
const resolvedUnless = async (
  found: readonly CheckFinding[] | Promise<readonly CheckFinding[]>,
  targets: readonly PointedTarget[],
): Promise<readonly CheckFinding[]> => {
  const findings = await found
  return findings.length > 0 ? findings : resolved(targets)
}

const violation = ({ scheme, host, port }: Target, options: Options): string | undefined => {
  if (!(options.schemes ?? ['https']).includes(scheme)) return `has the scheme ${scheme}, which is not allowed`
  if (!isListed(host, options.hosts)) return `goes to ${host}, which is no allowed host`
  const allowed = options.ports ?? [scheme === 'https' ? 443 : 80]
  if (!allowed.includes(port)) return `goes to port ${port}, which is not allowed`
  const isInner = options.private_addresses !== 'allow' && (isPrivate(host) || isForeign(host, options.hosts))
  return isInner ? `goes to the private address ${host}` : undefined
}

/**
 * True for a name that spells a private address, unless the policy lists its domain. The owner of a listed domain can
 * name hosts freely.
 */
const isForeign = (host: string, hosts: readonly string[]): boolean =>
  spellsPrivate(host) &&
  !isListed(
    host,
    hosts.filter((entry) => entry !== '*'),
  )

const isPrivate = (host: string): boolean => {
  const address = host.startsWith('[') ? host.slice(1, -1) : host
  return isIP(address) === 0 ? isPrivateName(host) : !isGlobal(address)
}

/** Resolves the names now. Every address must be globally reachable. */
const resolved = async (targets: readonly PointedTarget[]): Promise<readonly CheckFinding[]> => {
  const found = await Promise.all(
    targets.map(async ({ pointer, target: { host } }): Promise<CheckFinding | undefined> => {
      if (host.startsWith('[')) return undefined
      try {
        const addresses = await dns.lookup(host, { all: true })
        const inner = addresses.find(({ address }) => !isGlobal(address))
        if (inner === undefined && addresses.length > 0) return undefined
        return { pointer, reason: `goes to ${host}, which resolves to a private address`, certain: true }
      } catch {
        return { pointer, reason: `goes to ${host}, which does not resolve`, certain: false }
      }
    }),
  )
  return found.filter((one) => one !== undefined)
}
