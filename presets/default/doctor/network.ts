import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { ProxyRoute } from '../config/network.ts'
import { type Check, error, type Finding, ok, warning } from './check.ts'
import { reachability } from './reachability.ts'

const PROXIES = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY']

/** Reports proxies and extra certificates, and with `--online` checks that span receivers answer. */
export const network: Check = async ({ config, io, routes, environmentErrors, options }) => {
  if (config === undefined) return []
  const receivers = options.online === true ? config.replay.otlp_export : []
  const auditReceivers = options.online === true ? config.mcp.audit_export.filter(({ url }) => url !== undefined) : []
  return [
    ...proxies(
      routes,
      PROXIES.filter((name) => io.env[name]),
    ),
    ...environmentErrors.map(({ message }) => error(message, 'The gateway does not start with it.')),
    ...authorities(routes),
    ...(await extraAuthorities(io.env.NODE_EXTRA_CA_CERTS)),
    ...(await Promise.all(
      auditReceivers.map(({ url = '', ...options }) =>
        reachability('the receiver of audit records', url, options, 'Check url and network.'),
      ),
    )),
    ...(await Promise.all(
      receivers.map((receiver) =>
        reachability('the receiver of spans', receiver.url, receiver, 'Check url and network.'),
      ),
    )),
  ]
}

/** Addresses behind each proxy, and the source of the setting; if configured proxies are unused, the reason. */
const proxies = (routes: readonly ProxyRoute[], named: readonly string[]): readonly Finding[] => {
  const proxied = routes.filter(({ proxy }) => proxy !== undefined)
  const direct = routes.filter(({ proxy, from }) => proxy === undefined && from !== 'no proxy is set')
  return [
    ...proxied.map(({ what, proxy, from }) => ok(`${what} is reached through the proxy ${proxy} (${from})`)),
    ...(named.length === 0 && proxied.length === 0
      ? []
      : direct.map(({ what, from }) => ok(`${what} is reached directly (${from})`))),
  ]
}

/** Each extra certificate once, with its addresses. */
const authorities = (routes: readonly ProxyRoute[]): readonly Finding[] => {
  const places = new Map<string, string[]>()
  for (const { what, ca } of routes) for (const pem of new Set(ca)) places.set(pem, [...(places.get(pem) ?? []), what])
  return [...places].map(([pem, where]) => authority(new X509Certificate(pem), where))
}

const authority = ({ subject, validTo }: X509Certificate, where: readonly string[]): Finding => {
  const name = subject.replaceAll('\n', ', ')
  if (Date.parse(validTo) > Date.now()) return ok(`certificates by ${name} are trusted for ${where.join(', ')}`)
  return warning(`the authority ${name} has expired (${validTo})`, 'Put its new certificate into the file under ca.')
}

/** Node only warns of an unusable file. */
const extraAuthorities = async (file: string | undefined): Promise<readonly Finding[]> => {
  if (!file) return []
  const text = await readFile(file, 'latin1').catch((thrown: NodeJS.ErrnoException) => thrown)
  if (typeof text !== 'string')
    return [warning(`NODE_EXTRA_CA_CERTS names ${file}, which cannot be read (${text.code})`, 'Name the PEM file.')]
  if (!text.includes('-----BEGIN '))
    return [warning(`NODE_EXTRA_CA_CERTS names ${file}, which is no PEM file`, 'Name the PEM file.')]
  return [ok(`certificates by the authorities in NODE_EXTRA_CA_CERTS are trusted: ${file}`)]
}
