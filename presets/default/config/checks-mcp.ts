import { isLoopback } from 'guard-gateway/plugins/http'
import { isRedirect, parseLoginKey } from 'guard-gateway/plugins/mcp'
import { addressError, headerError, originErrors } from './check-http.ts'
import { at, type ConfigError, type Path } from './config-errors.ts'
import { proxyError } from './network.ts'
import type { Config } from './schema.ts'

type Server = Config['mcp']['servers'][string]

/** Checks of the section `mcp` beyond the schema. */
export const mcpErrors = ({ mcp }: Config): readonly ConfigError[] => [
  ...originErrors(mcp.allowed_origins ?? [], ['mcp', 'allowed_origins']),
  ...at(['mcp', 'login_key'], loginKeyError(mcp.login_key)),
  ...Object.entries(mcp.servers).flatMap(([id, server]) => serverErrors(server, ['mcp', 'servers', id])),
  ...Object.entries(mcp.bundles).flatMap(([id, bundle]) => bundleErrors(mcp, id, bundle)),
]

type Bundle = Config['mcp']['bundles'][string]

/** Servers of the gateway's own, which need no entry in the configuration. */
const OWN_SERVERS: readonly string[] = ['replay']

const bundleErrors = ({ servers }: Config['mcp'], id: string, bundle: Bundle): readonly ConfigError[] => {
  const path = ['mcp', 'bundles', id]
  const known = [...Object.keys(servers), ...OWN_SERVERS]
  const renamed = Object.entries(bundle.servers).flatMap(([server_id, { rename }]) =>
    Object.entries(rename).map(([own, name]) => ({ server_id, own, name })),
  )
  return [
    ...at(path, known.includes(id) ? `an MCP server is called "${id}", too; rename one of them` : undefined),
    ...at([...path, 'servers'], known.length === OWN_SERVERS.length ? 'there is no server in mcp.servers' : undefined),
    ...Object.keys(bundle.servers).flatMap((server_id) =>
      at([...path, 'servers', server_id], known.includes(server_id) ? undefined : unknownServer(server_id, servers)),
    ),
    ...renamed.flatMap(({ server_id, own, name }, index) => {
      const other = renamed.slice(0, index).find((one) => one.name === name)
      const error = `is called "${name}", as "${other?.own}" of the server "${other?.server_id}"; choose another name for one of them`
      return at([...path, 'servers', server_id, 'rename', own], other === undefined ? undefined : error)
    }),
  ]
}

const unknownServer = (id: string, servers: object): string =>
  `there is no MCP server "${id}" in mcp.servers; there is ${Object.keys(servers).join(', ') || 'none'}`

const serverErrors = (server: Server, path: Path): readonly ConfigError[] => {
  if (server.login !== undefined && server.transport === 'stdio')
    return at([...path, 'login'], 'goes with an address: a program takes its credentials from env')
  if (server.transport === 'stdio')
    return at(path, server.command === undefined ? 'transport stdio needs the key command' : undefined)
  if (server.transport !== 'http' && server.transport !== 'sse') return []
  if (server.target === undefined) return at(path, `transport ${server.transport} needs the key target`)
  return [
    ...at([...path, 'target'], targetError(server.target, server.insecure)),
    ...at([...path, 'proxy'], proxyError(server.proxy)),
    ...loginErrors(server, [...path, 'login']),
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

/** A key whose variable is not set is told where it is needed. */
const loginKeyError = (key: string): string | undefined =>
  key === '' || key.startsWith('${') || parseLoginKey(key) !== undefined
    ? undefined
    : 'is 32 random bytes in base64 or hex, as "openssl rand -base64 32" prints them'

const loginErrors = ({ login, headers }: Server, path: Path): readonly ConfigError[] => {
  if (login === undefined) return []
  const { client_id, client_secret, client_metadata_url, issuer, redirect_uri } = login
  const isDoubled = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  return [
    ...at(path, isDoubled ? 'the server has the header authorization already: take one of them out' : undefined),
    ...at(
      [...path, 'client_secret'],
      client_secret !== undefined && client_id === undefined ? 'needs the key client_id beside it' : undefined,
    ),
    ...at(
      [...path, 'client_secret'],
      client_secret !== undefined && client_id !== undefined && issuer === undefined
        ? 'needs the key issuer beside it: else it would go to whatever authorization server the MCP server names'
        : undefined,
    ),
    ...at([...path, 'client_metadata_url'], client_metadata_url && httpsError(client_metadata_url)),
    ...at([...path, 'issuer'], issuer && issuerError(issuer)),
    ...at(
      [...path, 'redirect_uri'],
      redirect_uri === undefined || isRedirect(redirect_uri, redirect_uri)
        ? undefined
        : 'is an http: address on the machine of the browser, as http://127.0.0.1:8976/callback',
    ),
  ]
}

const httpsError = (text: string): string | undefined => {
  const url = URL.parse(text)
  return url?.protocol === 'https:' && url.pathname !== '/' ? undefined : 'is an https: address with a path'
}

const issuerError = (text: string): string | undefined => {
  const url = URL.parse(text)
  const isUsable = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname))
  return isUsable ? undefined : 'is an https: address, or an http: one on this machine'
}
