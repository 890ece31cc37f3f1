import { isLoopback } from 'guard-gateway/plugins/http'
import { at, type ConfigFault, type Path } from './faults.ts'
import { addressFault, headerFault, originFaults } from './http-faults.ts'
import { proxyFault } from './network.ts'
import type { Config } from './schema.ts'

type Server = Config['mcp']['servers'][string]

/** What a schema cannot say of the section `mcp`. */
export const mcpFaults = ({ mcp }: Config): readonly ConfigFault[] => [
  ...originFaults(mcp.allowed_origins ?? [], ['mcp', 'allowed_origins']),
  ...Object.entries(mcp.servers).flatMap(([id, server]) => serverFaults(server, ['mcp', 'servers', id])),
]

const serverFaults = (server: Server, path: Path): readonly ConfigFault[] => {
  if (server.transport === 'stdio')
    return at(path, server.command === undefined ? 'transport stdio needs the key command' : undefined)
  if (server.transport !== 'http') return []
  if (server.target === undefined) return at(path, 'transport http needs the key target')
  return [
    ...at([...path, 'target'], targetFault(server.target, server.insecure)),
    ...at([...path, 'proxy'], proxyFault(server.proxy)),
    ...Object.entries(server.headers).flatMap(([name, value]) =>
      at([...path, 'headers', name], ownHeader(name) ?? headerFault(name, value)),
    ),
  ]
}

const OURS = /^(?:host|content-length|transfer-encoding|connection|mcp-.*)$/i

const ownHeader = (name: string): string | undefined =>
  OURS.test(name) ? 'the proxy sends this header itself' : undefined

const targetFault = (target: string, insecure: boolean): string | undefined => {
  const url = URL.parse(target)
  const fault = addressFault(url, 'headers')
  if (fault === undefined && url?.protocol === 'http:' && !insecure && !isLoopback(url.hostname))
    return 'would be reached without encryption; use https:, or set insecure: true'
  return fault
}
