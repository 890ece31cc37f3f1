import { isLoopback } from 'guard-gateway/plugins/http'
import { addressError, headerError, originErrors } from './check-http.ts'
import { at, type ConfigError, type Path } from './config-errors.ts'
import { proxyError } from './network.ts'
import type { Config } from './schema.ts'

type Server = Config['mcp']['servers'][string]

/** Checks of the section `mcp` beyond the schema. */
export const mcpErrors = ({ mcp }: Config): readonly ConfigError[] => [
  ...originErrors(mcp.allowed_origins ?? [], ['mcp', 'allowed_origins']),
  ...Object.entries(mcp.servers).flatMap(([id, server]) => serverErrors(server, ['mcp', 'servers', id])),
]

const serverErrors = (server: Server, path: Path): readonly ConfigError[] => {
  if (server.transport === 'stdio')
    return at(path, server.command === undefined ? 'transport stdio needs the key command' : undefined)
  if (server.transport !== 'http') return []
  if (server.target === undefined) return at(path, 'transport http needs the key target')
  return [
    ...at([...path, 'target'], targetError(server.target, server.insecure)),
    ...at([...path, 'proxy'], proxyError(server.proxy)),
    ...Object.entries(server.headers).flatMap(([name, value]) =>
      at([...path, 'headers', name], reservedHeaderError(name) ?? headerError(name, value)),
    ),
  ]
}

const RESERVED_HEADERS = /^(?:host|content-length|transfer-encoding|connection|mcp-.*)$/i

const reservedHeaderError = (name: string): string | undefined =>
  RESERVED_HEADERS.test(name) ? 'the proxy sends this header itself' : undefined

const targetError = (target: string, insecure: boolean): string | undefined => {
  const url = URL.parse(target)
  const error = addressError(url, 'headers')
  if (error === undefined && url?.protocol === 'http:' && !insecure && !isLoopback(url.hostname))
    return 'would be reached without encryption; use https:, or set insecure: true'
  return error
}
