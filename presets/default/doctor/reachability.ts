import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import { connectionFault, type UpstreamRoute, upstreamAddress } from '#lib/network'
import { error, type Finding, ok } from './check.ts'

const TIMEOUT_MS = 3_000

/** Checks that an address answers with any status, over the route of its requests. */
export const reachability = async (
  what: string,
  address: string,
  route: UpstreamRoute,
  fix: string,
): Promise<Finding> => {
  try {
    return ok(`${what} answers (${await statusAt(new URL(address), route)})`)
  } catch (thrown) {
    const { what: why, fix: better = fix } = connectionFault(thrown as NodeJS.ErrnoException)
    return error(`${what} at ${address} does not answer: ${why}`, better)
  }
}

/** Status of a HEAD request. Rejects with the reason of a failure. */
const statusAt = async (url: URL, route: UpstreamRoute): Promise<number> => {
  const connections = undici.connect(upstreamAddress(url, { connect_ms: TIMEOUT_MS, idle_ms: TIMEOUT_MS }, route))
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = { method: 'HEAD', path: url.pathname + url.search, headers: ['host', url.host], body: undefined }
  const exchange = connections.send(request, {
    answered: ({ status }) => resolve(status),
    failed: reject,
    over: () => {},
  })
  const timeout = setTimeout(() => exchange.stop(new Error(`no answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS)
  try {
    return await promise
  } finally {
    clearTimeout(timeout)
    connections.close()
  }
}
