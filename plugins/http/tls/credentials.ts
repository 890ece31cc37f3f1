import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { GuardError } from 'guard-gateway/core'

/** Files of a certificate, and what opens its key. */
export interface TlsFiles {
  /** PEM file of the certificate, then those of the authorities between it and a root. */
  readonly cert: string
  /** PEM file of its private key. */
  readonly key: string
  /** Of an encrypted key; empty for one that is not. */
  readonly passphrase: string
}

/** A certificate with its key, read and found to belong together. */
export interface TlsCredentials {
  readonly cert: Buffer
  readonly key: Buffer
  readonly passphrase: string | undefined
  /** Whom it is for: `guard.example, localhost`. */
  readonly names: string
  /** From and until when it is valid, in milliseconds since 1970. */
  readonly valid_from: number
  readonly valid_until: number
}

/** Reads and checks both files. Throws INVALID_CONFIG, which names the file that cannot be used. */
export const readCredentials = async ({
  cert: certFile,
  key: keyFile,
  passphrase,
}: TlsFiles): Promise<TlsCredentials> => {
  const cert = await contents('cert', certFile)
  const certificate = certificateIn(cert, certFile)
  const key = await contents('key', keyFile)
  const privateKey = privateKeyIn(key, keyFile, passphrase)
  if (!certificate.checkPrivateKey(privateKey))
    throw unusable('key', `${keyFile} is not the key of the certificate in ${certFile} (${namesOf(certificate)}).`)
  const credentials = { cert, key, passphrase: passphrase === '' ? undefined : passphrase }
  try {
    createSecureContext(credentials)
  } catch (cause) {
    throw unusable('cert', `${certFile} cannot be served: ${(cause as Error).message}.`, cause)
  }
  return {
    ...credentials,
    names: namesOf(certificate),
    valid_from: certificate.validFromDate.getTime(),
    valid_until: certificate.validToDate.getTime(),
  }
}

/** Text that changes when one of the files is replaced or written to. */
export const fingerprintOf = async ({ cert, key }: TlsFiles): Promise<string> => {
  const states = [cert, key].map((file) =>
    stat(file).then(
      ({ ino, size, mtimeMs }) => `${ino}:${size}:${mtimeMs}`,
      (error: NodeJS.ErrnoException) => String(error.code),
    ),
  )
  return (await Promise.all(states)).join(' ')
}

const unusable = (name: 'cert' | 'key', what: string, cause?: unknown): GuardError =>
  new GuardError('INVALID_CONFIG', `server.tls.${name}: ${what}`, { path: `server.tls.${name}`, cause })

const contents = async (name: 'cert' | 'key', file: string): Promise<Buffer> => {
  try {
    return await readFile(file)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const why = UNREAD[code ?? ''] ?? `cannot be read (${code})`
    throw unusable(name, `${file} ${why}.`, cause)
  }
}

const UNREAD: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'cannot be read by the user that the gateway runs as',
  EISDIR: 'is a folder; name the file in it',
}

const certificateIn = (pem: Buffer, file: string): X509Certificate => {
  if (!pem.includes('-----BEGIN CERTIFICATE-----'))
    throw unusable('cert', `${file} holds no certificate in PEM form (-----BEGIN CERTIFICATE-----).`)
  try {
    return new X509Certificate(pem)
  } catch (cause) {
    throw unusable('cert', `${file} holds a certificate that cannot be read: ${(cause as Error).message}.`, cause)
  }
}

const privateKeyIn = (pem: Buffer, file: string, passphrase: string): KeyObject => {
  const text = pem.toString('latin1')
  if (!/-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/.test(text))
    throw unusable('key', `${file} holds no private key in PEM form (-----BEGIN PRIVATE KEY-----).`)
  try {
    return createPrivateKey(passphrase === '' ? { key: pem } : { key: pem, passphrase })
  } catch (cause) {
    throw unusable('key', `${file} ${whyNoKey(cause, ENCRYPTED.test(text), passphrase)}.`, cause)
  }
}

const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m

const whyNoKey = (cause: unknown, isEncrypted: boolean, passphrase: string): string => {
  if (!isEncrypted) return `holds a private key that cannot be read: ${(cause as Error).message}`
  if (passphrase === '')
    return `is encrypted. Put its passphrase into the environment, and server.tls.passphrase: \${GUARD_TLS_PASSPHRASE} into the configuration`
  return 'is encrypted, and server.tls.passphrase does not open it'
}

/** The names that a certificate is for, or its subject if it has none. */
const namesOf = ({ subjectAltName, subject = '' }: X509Certificate): string =>
  subjectAltName === undefined
    ? subject.replaceAll('\n', ', ')
    : subjectAltName.replaceAll(/\b(?:DNS|IP Address):/g, '')
