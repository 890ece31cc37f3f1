import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { Config } from './schema.ts'

/** Local address of a gateway with this configuration. */
export const addressOf = ({ server }: Pick<Config, 'server'>): string => {
  const { host, port, tls } = server
  return reachable(`${tls.cert === '' ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`, server)
}

/** The address by which a gateway on this machine is called. One that listens on every address accepts loopback names as a host; by TLS the name is one that its certificate is for, if there is such a name. */
export const reachable = (address: string, { tls }: Pick<Config['server'], 'tls'>): string => {
  const [, scheme = '', host = '', rest = ''] = /^(https?:\/\/)(\[[^\]]*\]|[^:/]*)(.*)$/.exec(address) ?? []
  const called = CALLED[host] ?? host
  if (scheme !== 'https://') return scheme + called + rest
  const names = LOOPBACK.has(called) ? [called, ...LOOPBACK] : [called]
  return scheme + (names.find(isNameIn(tls.cert)) ?? called) + rest
}

/** Loopback names for what is every address. */
const CALLED: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '[::]': '[::1]' }
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost'])

/** Whether a certificate is for a name; for no name where it cannot be read. */
const isNameIn = (file: string): ((name: string) => boolean) => {
  try {
    const certificate = new X509Certificate(readFileSync(file))
    return (name) => {
      const bare = name.replace(/^\[(.*)\]$/, '$1')
      return (isIP(bare) === 0 ? certificate.checkHost(bare) : certificate.checkIP(bare)) !== undefined
    }
  } catch {
    return () => false
  }
}
