import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { proxyAddress, proxyChoice } from '#lib/network'
import { at, type ConfigError, type Path } from './config-errors.ts'
import type { Environment } from './environment.ts'
import type { Config } from './schema.ts'

export interface ProxyRoute {
  /** `upstream anthropic` */
  readonly what: string
  /** The proxy, without its login; undefined for a direct connection. */
  readonly proxy: string | undefined
  /** Source of the setting: a variable or a key. */
  readonly from: string
  /** Extra trusted certificates, as PEM. */
  readonly ca: readonly string[]
}

/** A configuration with resolved proxies and certificates. */
export interface ProxiedConfig {
  /** `proxy` is an address, or absent for a direct connection; `ca` contains certificates instead of file names. */
  readonly config: Config
  readonly routes: readonly ProxyRoute[]
  /** Errors of certificate files. */
  readonly errors: readonly ConfigError[]
  /** Unusable proxies of the environment. They concern only commands that use them. */
  readonly environmentErrors: readonly ConfigError[]
}

interface Reached {
  readonly proxy?: string
  readonly ca?: readonly string[]
}

/** Error of a configured proxy. */
export const proxyError = (proxy: string | undefined): string | undefined => {
  if (proxy === undefined || proxy === 'none' || proxy === 'environment') return undefined
  try {
    proxyAddress(proxy)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** Resolves the proxy and certificates of each address. Relative files start at `folder`. */
export const withProxyRoutes = async (config: Config, folder: string, env: Environment): Promise<ProxiedConfig> => {
  const { network, upstreams, mcp, replay, notify } = config
  const routes: ProxyRoute[] = []
  const errors: ConfigError[] = []
  const environmentErrors: ConfigError[] = []

  const certificates = async (files: readonly string[], path: Path): Promise<readonly string[]> => {
    if (files.length === 0) return []
    const found = await certificatesIn(files, folder, path)
    errors.push(...found.errors)
    return found.certificates
  }
  const shared = await certificates(network.ca, ['network', 'ca'])

  const resolveRoute = async <T extends Reached>(what: string, url: string, entry: T, path: Path, key: string) => {
    const { proxy: own, ca: files = [], ...rest } = entry
    const ca = [...shared, ...(await certificates(files, [...path, 'ca']))]
    const { proxy, from } = proxyChoice(new URL(url), own, network, env)
    const unusable = proxyError(proxy)
    environmentErrors.push(
      ...at([...path, key], unusable === undefined ? undefined : `${from} ${unusable}; or say network.proxy: none`),
    )
    const used = unusable === undefined ? proxy : undefined
    routes.push({ what, proxy: used === undefined ? undefined : proxyAddress(used).label, from, ca })
    return { ...rest, ...proxyAndCa({ proxy: used, ca }) }
  }

  return {
    config: {
      ...config,
      network: { ...network, ca: [...shared] },
      upstreams: await mapSequentially(upstreams, (entry, index) =>
        resolveRoute(`upstream ${entry.name}`, entry.base_url, entry, ['upstreams', index], 'base_url'),
      ),
      mcp: {
        ...mcp,
        audit_export: await mapSequentially(mcp.audit_export, (entry, index) =>
          entry.url === undefined
            ? entry
            : resolveRoute(
                `audit records to ${new URL(entry.url).host}`,
                entry.url,
                entry,
                ['mcp', 'audit_export', index],
                'url',
              ),
        ),
        servers: Object.fromEntries(
          await mapSequentially(Object.entries(mcp.servers), async ([id, server]) => [
            id,
            server.target === undefined || server.transport === 'stdio'
              ? server
              : await resolveRoute(`MCP server ${id}`, server.target, server, ['mcp', 'servers', id], 'target'),
          ]),
        ),
      },
      replay: {
        ...replay,
        otlp_export: await mapSequentially(replay.otlp_export, (entry, index) =>
          resolveRoute(
            `spans to ${new URL(entry.url).host}`,
            entry.url,
            entry,
            ['replay', 'otlp_export', index],
            'url',
          ),
        ),
      },
      notify: {
        ...notify,
        receivers: Object.fromEntries(
          await mapSequentially(Object.entries(notify.receivers), async ([name, receiver]) => [
            name,
            receiver.url === undefined || !URL.canParse(receiver.url)
              ? receiver
              : await resolveRoute(`receiver ${name}`, receiver.url, receiver, ['notify', 'receivers', name], 'url'),
          ]),
        ),
      },
    },
    routes,
    errors,
    environmentErrors,
  }
}

/** Proxy and certificates as options; empty for a direct connection. */
export const proxyAndCa = ({ proxy, ca }: { readonly proxy: string | undefined; readonly ca: readonly string[] }) => ({
  ...(proxy === undefined ? {} : { proxy }),
  ...(ca.length === 0 ? {} : { ca: [...ca] }),
})

/** Runs sequentially, so that errors and routes have the order of the file. */
const mapSequentially = async <T, R>(
  list: readonly T[],
  work: (entry: T, index: number) => R | Promise<R>,
): Promise<R[]> => {
  const results: R[] = []
  for (const [index, entry] of list.entries()) results.push(await work(entry, index))
  return results
}

const BLOCK = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\s\S]*?-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g
const BEGIN = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/g

/** PEM certificates of files, relative to a folder, and the errors of unusable files. */
const certificatesIn = async (
  files: readonly string[],
  folder: string,
  path: Path,
): Promise<{ readonly certificates: readonly string[]; readonly errors: readonly ConfigError[] }> => {
  const read = await Promise.all(files.map((file) => certificatesOf(resolve(folder, file))))
  return {
    certificates: read.flatMap((found) => (typeof found === 'string' ? [] : found)),
    errors: read.flatMap((found, index) =>
      typeof found === 'string' ? [{ path: [...path, index], message: found }] : [],
    ),
  }
}

/** Certificates of a file, or the reason why there is none. */
const certificatesOf = async (file: string): Promise<readonly string[] | string> => {
  let text: string
  try {
    text = await readFile(file, 'latin1')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return `${file} ${unread[code] ?? `cannot be read (${code})`}`
  }
  const blocks = text.match(BLOCK) ?? []
  const begun = text.match(BEGIN)?.length ?? 0
  if (begun > blocks.length) return `${file}: a certificate in it begins and does not end; copy it whole`
  if (blocks.length === 0 && text.includes('PRIVATE KEY-----'))
    return `${file} holds a private key and no certificate; name the file of the authority's certificate`
  if (blocks.length === 0)
    return `${file} holds no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----; "openssl x509 -inform der -in <file>" writes one out of DER`
  const broken = blocks.findIndex((block) => !isCertificate(block))
  return broken === -1 ? blocks : `${file}: certificate ${broken + 1} of ${blocks.length} is damaged`
}

const unread: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a folder; name the file in it',
  EACCES: 'may not be read by this user',
}

const isCertificate = (pem: string): boolean => {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
