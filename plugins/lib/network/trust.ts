import type { SecureContext } from 'node:tls'
import type { UpstreamAddress } from 'guard-gateway/lib/upstream-client'

/** Whom TLS connections to an address trust: Node's own authorities, those of NODE_EXTRA_CA_CERTS among them, and the address's own. Undefined where it has none, or speaks no TLS. */
export const trustOf = ({ ca = [], secure, proxy }: UpstreamAddress): SecureContext | undefined => {
  if (ca.length === 0 || !(secure || proxy?.secure === true)) return undefined
  const { createSecureContext, getCACertificates } = process.getBuiltinModule('node:tls')
  return createSecureContext({ ca: [...getCACertificates('default'), ...ca] })
}
