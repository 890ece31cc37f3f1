import { connectionFault, type UpstreamRoute, upstreamAddress } from 'guard-gateway/lib/network'
import { net } from 'guard-gateway/plugins/upstream-clients/net'
import { error, type Finding, ok } from './check.ts'

const REACH_MS = 3_000

/** Whether something answers at an address, whatever it says, on the way that requests to it take. */
export const reach = async (what: string, address: string, route: UpstreamRoute, fix: string): Promise<Finding> => {
  try {
    return ok(`${what} answers (${await statusAt(new URL(address), route)})`)
  } catch (thrown) {
    const { what: why, fix: better = fix } = connectionFault(thrown as NodeJS.ErrnoException)
    return error(`${what} at ${address} does not answer: ${why}`, better)
  }
}

/** The status of an answer to HEAD. Rejects with why there is none. */
const statusAt = async (url: URL, route: UpstreamRoute): Promise<number> => {
  const connections = net.connect(upstreamAddress(url, { connect_ms: REACH_MS, idle_ms: REACH_MS }, route))
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = { method: 'HEAD', path: url.pathname + url.search, headers: ['host', url.host], body: undefined }
  const exchange = connections.send(request, {
    answered: ({ status }) => resolve(status),
    failed: reject,
    over: () => {},
  })
  const late = setTimeout(() => exchange.stop(new Error(`no answer within ${REACH_MS} ms`)), REACH_MS)
  try {
    return await promise
  } finally {
    clearTimeout(late)
    connections.close()
  }
}
