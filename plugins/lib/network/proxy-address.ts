import type { ProxyAddress } from '#lib/upstream-client'

const SCHEME = /^[a-z][a-z0-9+.-]*:\/\//i

/** Reads the address of a proxy; without a scheme it is `http`. Throws TypeError with what is wrong with it, and never with the address, which may hold a password. */
export const proxyAddress = (text: string): ProxyAddress => {
  const url = parsed(text)
  if (/[/#?].*@/.test(text.trim().replace(SCHEME, ''))) throw new TypeError(LOGIN)
  if (url === null || !isHost(url.hostname) || url.port === '0')
    throw new TypeError('is no address of a proxy; expected http://host:port')
  if (/^socks/i.test(url.protocol))
    throw new TypeError(
      `names a ${url.protocol}// proxy, which the gateway does not speak; name one that speaks HTTP, as http://host:port`,
    )
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new TypeError('expected a proxy that begins with http:// or https://')
  const secure = url.protocol === 'https:'
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  const login = loginOf(url)
  return {
    secure,
    hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port,
    label: `${url.protocol}//${url.hostname}:${port}`,
    ...(login === undefined ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` }),
  }
}

/** The password in the address of a proxy, decoded; empty where there is none, or no address. */
export const proxyPassword = (text: string): string => {
  const url = parsed(text)
  try {
    return decodeURIComponent(url?.password ?? '')
  } catch {
    return url?.password ?? ''
  }
}

const parsed = (text: string): URL | null => {
  const trimmed = text.trim()
  return URL.parse(SCHEME.test(trimmed) ? trimmed : `http://${trimmed}`)
}

/** A URL takes quotes and the like into a name, which no host has; of `http:/host` it takes the scheme for the host. */
const isHost = (hostname: string): boolean =>
  /^(?:\[[\da-f:.]+\]|[\w.-]+)$/i.test(hostname) && !/^https?$/.test(hostname)

const LOGIN =
  'holds a user name or password with a character that means something else in an address; write % @ : / # ? in them as %25 %40 %3A %2F %23 %3F'

const loginOf = ({ username, password }: URL): string | undefined => {
  if (username === '' && password === '') return undefined
  try {
    return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  } catch {
    throw new TypeError(LOGIN)
  }
}
