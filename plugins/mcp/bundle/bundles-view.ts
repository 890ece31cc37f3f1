import type { BundleView } from '../management/bundle-schemas.ts'
import type { Mcp } from '../mcp.ts'
import type { Bundle } from './bundle.ts'
import type { Bundles } from './bundles.ts'

/** The bundles with servers in them, and how their servers are. */
export const bundlesView = async (mcp: Mcp): Promise<BundleView[]> => {
  const bundles = await mcp.bundles()
  return [...bundles].filter(({ server_ids }) => server_ids.length > 0).map((bundle) => bundleView(bundles, bundle))
}

const bundleView = (bundles: Bundles, bundle: Bundle): BundleView => {
  const sessions = bundles.sessionsOf(bundle)
  const members = sessions.flatMap((session) => session.members)
  return {
    id: bundle.id,
    path: `/mcp/${bundle.id}`,
    servers: bundle.servers.map(({ state: { server, last_error }, naming }) => {
      const own = members.filter(({ id }) => id === server.id)
      const reason = own.find(({ missing }) => missing !== undefined)?.missing ?? last_error ?? null
      const isThere = own.some(({ running }) => running !== undefined)
      return {
        id: server.id,
        prefix: naming.prefix,
        status: reason !== null ? 'missing' : isThere ? 'ok' : 'unknown',
        reason,
      }
    }),
    collisions: bundle.collisions.map((collision) => ({
      ...{ kind: collision.kind, name: collision.name, servers: [...collision.servers] },
      text: bundle.collisionText(collision),
    })),
    sessions: sessions.length,
  }
}
