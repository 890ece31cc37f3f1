import { Gateway } from 'guard-gateway/core'
import { foundation } from 'guard-gateway/presets/foundation'
import type { Bench } from 'tinybench'
import { byHeaderName, holdsOwnKey, isCredentialName } from '#lib/http'
import { times } from '../kit.ts'

const KEY = 'bench-gateway-key-0123456789'

/** The headers of a coding agent's client. */
const agent = [
  ['Host', '127.0.0.1:8787'],
  ['Accept', 'application/json'],
  ['Content-Type', 'application/json'],
  ['User-Agent', 'agent/2.1.0 (external, cli)'],
  ['X-Stainless-Lang', 'js'],
  ['X-Stainless-Package-Version', '6.0.0'],
  ['X-Stainless-OS', 'Linux'],
  ['X-Stainless-Arch', 'x64'],
  ['X-Stainless-Runtime', 'node'],
  ['X-Stainless-Runtime-Version', 'v24.1.0'],
  ['X-Stainless-Retry-Count', '0'],
  ['X-Stainless-Timeout', '600'],
  ['Authorization', `Bearer ${KEY}`],
  ['accept-language', '*'],
  ['accept-encoding', 'gzip, deflate'],
  ['Content-Length', '35718'],
] as const

/** The cost of removing credentials from request headers and of identifying the key. */
export const register = (bench: Bench): void => {
  const gateway = new Gateway().use(...foundation())
  gateway.keys.setGateway(KEY)
  gateway.secrets.add(KEY)
  gateway.secrets.add('sk-bench-provider-key-0123456789')
  const passes = byHeaderName((lower) => !isCredentialName(lower))
  const kept = () => agent.filter(([name, value]) => passes(name) && !holdsOwnKey(gateway.secrets, value))
  bench.add(`headers: ${agent.length} headers judged by name and value`, times(1000, kept))
  bench.add(
    'headers: the key identified',
    times(1000, () => gateway.keys.identify([KEY])),
  )
}
