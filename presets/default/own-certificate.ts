import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import tls from 'node:tls'
import { isLoopback } from 'guard-gateway/plugins/http'
import type { Config } from './config/schema.ts'

/**
 * Makes TLS connections of this process trust the gateway of its configuration: the authority that `server.tls.ca` names, else
 * the certificate itself, and on loopback addresses this one certificate whatever name it is for. Without `server.tls` it does nothing.
 * A process that serves does not call it: its upstreams are judged as they are everywhere.
 */
export const trustOwnCertificate = async ({ cert, ca }: Config['server']['tls']): Promise<void> => {
  if (cert === '') return
  const own = await readFile(cert, 'utf8').catch(() => undefined)
  const authority = ca === '' ? own : await readFile(ca, 'utf8').catch(() => undefined)
  if (authority !== undefined) addAuthority(authority)
  if (own !== undefined) acceptOnLoopback(own)
}

const addAuthority = (pem: string): void => {
  try {
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), pem])
  } catch {
    // what is no certificate is found by the gateway that serves it, and by doctor
  }
}

const acceptOnLoopback = (pem: string): void => {
  const fingerprint = fingerprintOf(pem)
  const judge = tls.checkServerIdentity
  tls.checkServerIdentity = (host, certificate) =>
    fingerprint !== undefined && certificate.fingerprint256 === fingerprint && isLoopback(host)
      ? undefined
      : judge(host, certificate)
}

const fingerprintOf = (pem: string): string | undefined => {
  try {
    return new X509Certificate(pem).fingerprint256
  } catch {
    return undefined
  }
}
