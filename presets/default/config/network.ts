import { proxyAddress, proxyChoice } from 'guard-gateway/lib/network'
import { certificatesIn } from './certificates.ts'
import type { Environment } from './environment.ts'
import { at, type ConfigFault, type Path } from './faults.ts'
import type { Config } from './schema.ts'

/** How one address of a configuration is reached. */
export interface ProxyRoute {
  /** `upstream anthropic` */
  readonly what: string
  /** The proxy, without its login; undefined: none. */
  readonly proxy: string | undefined
  /** Who says so: a variable, a key. */
  readonly from: string
  /** Authorities that are trusted there beside those of Node, as PEM. */
  readonly ca: readonly string[]
}

/** A configuration with the way to each of its addresses worked out. */
export interface ProxiedConfig {
  /** Each `proxy` is an address, absent where there is none on the way; each `ca` the certificates themselves and no files. */
  readonly config: Config
  readonly routes: readonly ProxyRoute[]
  /** What is wrong with files of certificates. */
  readonly faults: readonly ConfigFault[]
  /** Proxies of the environment that cannot be used; they concern only who is about to use them. */
  readonly environmentFaults: readonly ConfigFault[]
}

/** An entry of the configuration that is reached at an address. */
interface Reached {
  readonly proxy?: string
  readonly ca?: readonly string[]
}

/** What is wrong with a proxy that a configuration names. */
export const proxyFault = (proxy: string | undefined): string | undefined => {
  if (proxy === undefined || proxy === 'none' || proxy === 'environment') return undefined
  try {
    proxyAddress(proxy)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** Works out how everything is reached: by which proxy, with whose certificates. Relative files are taken from `folder`. */
export const withProxyRoutes = async (config: Config, folder: string, env: Environment): Promise<ProxiedConfig> => {
  const { network, upstreams, mcp, replay } = config
  const routes: ProxyRoute[] = []
  const faults: ConfigFault[] = []
  const environmentFaults: ConfigFault[] = []

  const certificates = async (files: readonly string[], path: Path): Promise<readonly string[]> => {
    if (files.length === 0) return []
    const found = await certificatesIn(files, folder, path)
    faults.push(...found.faults)
    return found.certificates
  }
  const shared = await certificates(network.ca, ['network', 'ca'])

  const along = async <T extends Reached>(what: string, url: string, entry: T, path: Path, key: string) => {
    const { proxy: own, ca: files = [], ...rest } = entry
    const ca = [...shared, ...(await certificates(files, [...path, 'ca']))]
    const { proxy, from } = proxyChoice(new URL(url), own, network, env)
    const unusable = proxyFault(proxy)
    environmentFaults.push(
      ...at([...path, key], unusable === undefined ? undefined : `${from} ${unusable}; or say network.proxy: none`),
    )
    const used = unusable === undefined ? proxy : undefined
    routes.push({ what, proxy: used === undefined ? undefined : proxyAddress(used).shown, from, ca })
    return { ...rest, ...proxyAndCa({ proxy: used, ca }) }
  }

  return {
    config: {
      ...config,
      network: { ...network, ca: [...shared] },
      upstreams: await inTurn(upstreams, (entry, index) =>
        along(`upstream ${entry.name}`, entry.base_url, entry, ['upstreams', index], 'base_url'),
      ),
      mcp: {
        ...mcp,
        servers: Object.fromEntries(
          await inTurn(Object.entries(mcp.servers), async ([id, server]) => [
            id,
            server.target === undefined || server.transport === 'stdio'
              ? server
              : await along(`MCP server ${id}`, server.target, server, ['mcp', 'servers', id], 'target'),
          ]),
        ),
      },
      replay: {
        ...replay,
        otlp_export: await inTurn(replay.otlp_export, (entry, index) =>
          along(`spans to ${new URL(entry.url).host}`, entry.url, entry, ['replay', 'otlp_export', index], 'url'),
        ),
      },
    },
    routes,
    faults,
    environmentFaults,
  }
}

/** What an entry says of the way to it; nothing where that is the plain one. */
export const proxyAndCa = ({ proxy, ca }: { readonly proxy: string | undefined; readonly ca: readonly string[] }) => ({
  ...(proxy === undefined ? {} : { proxy }),
  ...(ca.length === 0 ? {} : { ca: [...ca] }),
})

/** One after the other, so that faults and routes are told in the order of the file. */
const inTurn = async <T, R>(list: readonly T[], work: (entry: T, index: number) => Promise<R>): Promise<R[]> => {
  const done: R[] = []
  for (const [index, entry] of list.entries()) done.push(await work(entry, index))
  return done
}
