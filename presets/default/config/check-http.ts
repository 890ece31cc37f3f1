import { at, type ConfigError, type Path } from './config-errors.ts'

const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule('node:http')

/** Error of a request address. `instead` names the keys for a password. */
export const addressError = (url: URL | null, instead: string): string | undefined => {
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    return 'expected an address that begins with http:// or https://'
  if (url.username !== '' || url.password !== '') return `holds a user name or password; use ${instead}`
}

/** Error of a request header. */
export const headerError = (name: string, value: string): string | undefined => {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
  } catch {
    return 'cannot be sent in a header'
  }
}

/** Errors of a list of web origins. */
export const originErrors = (origins: readonly string[], path: Path): readonly ConfigError[] =>
  origins.flatMap((origin, index) => at([...path, index], originError(origin)))

const originError = (origin: string): string | undefined => {
  if (origin.includes('*'))
    return 'would let pages of others act here; name each origin by itself, as https://guard.example'
  const url = URL.parse(origin)
  if (url?.origin.toLowerCase() === origin.toLowerCase() && origin !== 'null') return undefined
  const hint = url === null || url.origin === 'null' ? '' : `, as ${url.origin}`
  return `expected scheme://host or scheme://host:port, nothing behind it${hint}`
}
