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
