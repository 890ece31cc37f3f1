import { peerError } from 'guard-gateway/plugins/http'
import { isCredentialName } from '#lib/http'
import { at, type ConfigError, type Path } from './config-errors.ts'
import type { Config } from './schema.ts'

const PATH: Path = ['server', 'auth_proxy']
/** Headers that mean something else here. */
const TAKEN =
  /^(?:host|origin|connection|content-.*|transfer-encoding|mcp-.*|sec-.*|x-guard-.*|x-forwarded-(?:for|proto|host))$/

/** Errors of `server.auth_proxy`. */
export const authProxyErrors = (options: Config['server']['auth_proxy']): readonly ConfigError[] => {
  const { header, groups_header, from, scopes, groups, projects } = options
  const isEmpty = [from, ...[scopes, groups, projects].map(Object.keys)].every(({ length }) => length === 0)
  if (header === '')
    return at(
      [...PATH, 'header'],
      isEmpty && groups_header === '' ? undefined : 'is missing: name the header that the proxy sets',
    )
  return [
    ...at([...PATH, 'header'], nameError(header)),
    ...at([...PATH, 'groups_header'], groups_header === '' ? undefined : nameError(groups_header)),
    ...at(
      [...PATH, 'groups_header'],
      groups_header.toLowerCase() === header.toLowerCase() ? 'is the header that names the person' : undefined,
    ),
    ...at(
      [...PATH, 'from'],
      from.length === 0 ? 'is empty: list the addresses of the proxies that are trusted' : undefined,
    ),
    ...from.flatMap((entry, index) => at([...PATH, 'from', index], peerError(entry))),
  ]
}

const nameError = (name: string): string | undefined => {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(name)) return `"${name}" is no name of a header`
  const lower = name.toLowerCase()
  return TAKEN.test(lower) || isCredentialName(lower)
    ? `"${name}" has another meaning here; let the proxy set one like x-forwarded-user`
    : undefined
}
