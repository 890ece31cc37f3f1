import { isThisMachine } from '#lib/network'
import { LoginFault } from './login-fault.ts'

/** Where browsers come back to, if nothing else is configured; the system chooses the port. */
export const REDIRECT = 'http://127.0.0.1/callback'

const MAX_CHARS = 16_384

/** An address on this machine that is the configured one, or that one with a port. */
export const isRedirect = (address: string, configured = REDIRECT): boolean => {
  const [url, wanted] = [URL.parse(address), URL.parse(configured)]
  if (url === null || wanted === null || url.protocol !== 'http:' || !isThisMachine(url.hostname)) return false
  if (wanted.port === '') wanted.port = url.port
  return url.href === wanted.href
}

/** What an authorization server sends along with a browser. `redirected` is the whole address, or what follows its question mark. Throws LoginFault. */
export const redirectParameters = (
  redirected: string,
): { readonly parameters: URLSearchParams; readonly address: string | undefined } => {
  const text = redirected.trim()
  if (text.length > MAX_CHARS) throw new LoginFault('The address that the browser came back with is too long.')
  if (/^\??[A-Za-z_]+=/.test(text))
    return { parameters: new URLSearchParams(text.replace(/^\?/, '')), address: undefined }
  const url = URL.parse(text)
  if (url === null)
    throw new LoginFault('This is no address. Paste the whole one that the browser shows, from http:// on.')
  return { parameters: url.searchParams, address: url.origin + url.pathname }
}
