/** Why a request got no answer. */
export interface Unreachable {
  readonly message: string
  /** The request was never sent, so that it cannot have been stored. */
  readonly unsent: boolean
}

interface Cause {
  readonly test: RegExp
  readonly says: (address: string, url: URL) => string
}

/** Causes by the codes and messages of Node, Bun and Deno. No request is sent in these cases. */
const CAUSES: readonly Cause[] = [
  {
    test: /ECONNREFUSED|ConnectionRefused|connection refused|unable to connect/i,
    says: (address) => `Nobody answers at ${address}. Start the gateway, or name its address.`,
  },
  {
    test: /ENOTFOUND|EAI_AGAIN|dns error|failed to lookup|name resolution/i,
    says: (_address, { hostname }) => `There is no host "${hostname}". Correct baseUrl, the address of the gateway.`,
  },
  {
    test: /ERR_SSL|EPROTO|wrong version number|packet length|InvalidContentType|corrupt message/i,
    says: (address, { host }) => `${address} does not speak https. Is it http://${host}?`,
  },
  {
    test: /CERT|certificate|UnknownIssuer/i,
    says: (address) =>
      `The certificate of ${address} is not trusted. NODE_EXTRA_CA_CERTS names a file of further authorities.`,
  },
  {
    test: /bad port|requests to port|unsafe port/i,
    says: (_address, { port }) => `Port ${port} is not allowed to fetch. Give the gateway another one.`,
  },
  {
    test: /EHOSTUNREACH|ENETUNREACH|CONNECT_TIMEOUT|tcp connect error/i,
    says: (address) => `There is no way to ${address}. Correct baseUrl, the address of the gateway.`,
  },
]

/** What a server does that is spoken to in plain text and expects TLS; others do it too. */
const BROKEN = /HPE_|Parse Error|invalid HTTP|other side closed|ECONNRESET|socket hang up|connection closed/i

/** What an error of `fetch` means for a request to this address. */
export const unreachable = (address: string, error: unknown): Unreachable => {
  const url = new URL(address)
  const words = wordsOf(error)
  const cause = CAUSES.find(({ test }) => test.test(words))
  if (cause !== undefined) return { message: cause.says(url.origin, url), unsent: true }
  const hint = url.protocol === 'http:' && BROKEN.test(words) ? ' Does it speak https?' : ''
  return { message: `The gateway at ${url.origin} broke off: ${reasonOf(error)}.${hint}`, unsent: false }
}

/** Codes and messages of an error and of its causes. */
const wordsOf = (error: unknown): string => {
  const words: unknown[] = []
  for (let one = error, depth = 0; typeof one === 'object' && one !== null && depth < 4; depth++) {
    words.push(Reflect.get(one, 'code'), Reflect.get(one, 'message'))
    one = Reflect.get(one, 'cause')
  }
  return words.join(' ')
}

const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  return cause.message === '' ? String(Reflect.get(cause, 'code') ?? cause.name) : cause.message
}
