/** Why a connection failed, in words. */
export interface ConnectionFault {
  /** `nothing listens there (ECONNREFUSED)` */
  readonly what: string
  /** What to do about it, a sentence; undefined where nothing more can be said than to check the address and the network. */
  readonly fix?: string
}

/** Explains an error that an upstream client gives to `failed`; the codes of HPE_ say how a response breaks HTTP. */
export const connectionFault = ({ code, message }: NodeJS.ErrnoException): ConnectionFault => {
  if (code === undefined || code === 'CONNECT_TIMEOUT') return { what: message || 'it is not known why' }
  if (code.startsWith('PROXY_')) return { what: message, fix: PROXY }
  if (code.startsWith('HPE_')) return { what: `its answer breaks the rules of HTTP (${code})` }
  const certificate = certificates.get(code)
  if (certificate !== undefined) return { ...certificate, what: `${certificate.what} (${code})` }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return { what: `TLS failed (${code})`, fix: TLS }
  const meaning = meanings.get(code)
  return { what: meaning === undefined ? code : `${meaning} (${code})` }
}

const PROXY =
  'Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY where the gateway is started, and network.proxy in its configuration.'
const TLS = 'Check the port, and whether the address should begin with http: instead.'
const UNKNOWN_AUTHORITY =
  'If it is meant to, as where a proxy inspects TLS, name the PEM file of its authority as ca beside the address or under network.ca, or start the gateway with NODE_EXTRA_CA_CERTS=<file>.'

const meanings: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nothing listens there'],
  ['ENOTFOUND', 'its host name is unknown'],
  ['EAI_AGAIN', 'its host name could not be looked up'],
  ['ECONNRESET', 'it closed the connection without an answer'],
  ['EPIPE', 'it closed the connection without an answer'],
])

const unknown = { what: 'an authority that is not known here signed its certificate', fix: UNKNOWN_AUTHORITY }
const selfSigned = { what: 'its certificate is signed by itself', fix: UNKNOWN_AUTHORITY }
const revoked = { what: 'its certificate is revoked', fix: 'Whoever runs it has to replace it.' }

const certificates: ReadonlyMap<string, Required<ConnectionFault>> = new Map([
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', unknown],
  ['UNABLE_TO_GET_ISSUER_CERT', unknown],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', unknown],
  ['SELF_SIGNED_CERT_IN_CHAIN', unknown],
  ['CERT_UNTRUSTED', unknown],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', selfSigned],
  ['CERT_REVOKED', revoked],
  [
    'CERT_HAS_EXPIRED',
    {
      what: 'its certificate has expired',
      fix: 'Check the clock of this machine; else whoever runs it has to renew it.',
    },
  ],
  ['CERT_NOT_YET_VALID', { what: 'its certificate is not valid yet', fix: 'Check the clock of this machine.' }],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    { what: 'its certificate is for another name', fix: 'Use the name that stands in the certificate as the address.' },
  ],
])
