import { at, type ConfigFault, type Path } from './faults.ts'

const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule('node:http')

/** What is wrong with an address to send requests to; `instead` names the keys under which a password may stand. */
export const addressFault = (url: URL | null, instead: string): string | undefined => {
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    return 'expected an address that begins with http:// or https://'
  if (url.username !== '' || url.password !== '') return `holds a user name or password; use ${instead}`
}

/** What is wrong with a header to send. */
export const headerFault = (name: string, value: string): string | undefined => {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
  } catch {
    return 'cannot be sent in a header'
  }
}

/** What is wrong with a list of web origins at this place. */
export const originFaults = (origins: readonly string[], path: Path): readonly ConfigFault[] =>
  origins.flatMap((origin, index) => at([...path, index], originFault(origin)))

const originFault = (origin: string): string | undefined => {
  if (origin.includes('*'))
    return 'would let pages of others act here; name each origin by itself, as https://guard.example'
  const url = URL.parse(origin)
  if (url?.origin.toLowerCase() === origin.toLowerCase() && origin !== 'null') return undefined
  const hint = url === null || url.origin === 'null' ? '' : `, as ${url.origin}`
  return `expected scheme://host or scheme://host:port, nothing behind it${hint}`
}
