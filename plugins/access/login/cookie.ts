import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'

const NAME = 'guard_login'
const VALUE = /(?:^|;\s*)guard_login=([A-Za-z0-9_-]{43})(?:;|$)/

/** The value of the login cookie; undefined without one. */
export const cookieOf = ({ headers }: IncomingMessage): string | undefined => VALUE.exec(headers.cookie ?? '')?.[1]

/** The header that sets the cookie; an empty value removes it. */
export const setCookie = (request: IncomingMessage, value: string, seconds: number): string =>
  [
    `${NAME}=${value}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    `Max-Age=${value === '' ? 0 : seconds}`,
    ...(isEncrypted(request) ? ['Secure'] : []),
  ].join('; ')

/** A browser that reached a proxy by TLS sends the cookie by TLS alone, too. */
const isEncrypted = ({ socket, headers }: IncomingMessage): boolean =>
  (socket as Partial<TLSSocket>).encrypted === true || headers['x-forwarded-proto'] === 'https'
