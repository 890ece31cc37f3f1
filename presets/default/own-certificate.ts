import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import tls from 'node:tls'
import { isLoopback } from 'guard-gateway/plugins/http'
import type { Config } from './config/schema.ts'

/**
 * Makes TLS connections of this process trust the gateway of its configuration: the authority that `server.tls.ca` names, else
 * the certificate itself, and at the addresses of this machine this one certificate whatever name it is for. Without `server.tls` it does nothing.
 * A process that serves does not call it: its upstreams are judged as they are everywhere.
 */
export const trustOwnCertificate = async ({ host, tls: { cert, ca } }: Config['server']): Promise<void> => {
  if (cert === '') return
  const own = await readFile(cert, 'utf8').catch(() => undefined)
  const authority = ca === '' ? own : await readFile(ca, 'utf8').catch(() => undefined)
  if (authority !== undefined) addAuthority(authority)
  if (own !== undefined) acceptHere(own, host)
}

const addAuthority = (pem: string): void => {
  try {
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), pem])
  } catch {
    // what is no certificate is found by the gateway that serves it, and by doctor
  }
}

/** The certificate is compared as a whole, so whoever shows it has its key. */
const acceptHere = (pem: string, listenHost: string): void => {
  const fingerprint = fingerprintOf(pem)
  const isHere = (host: string): boolean => isLoopback(host) || host === listenHost
  const judge = tls.checkServerIdentity
  tls.checkServerIdentity = (host, certificate) =>
    fingerprint !== undefined && certificate.fingerprint256 === fingerprint && isHere(host)
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
