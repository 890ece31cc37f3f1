import type { HttpServerState } from '../http-server-state.ts'
import type { Servers } from './servers.ts'

/** How long interrupted requests may take to be recorded. */
const SETTLE_MS = 2_000
const POLL_MS = 10

/** Drains a gateway: it takes no new request, lets open replies end within `shutdown_grace_seconds`, then interrupts them. `servers`: its own, if it has any. */
export const drain = async (state: HttpServerState, servers?: Servers): Promise<void> => {
  state.draining = true
  servers?.stop()
  const grace = state.server.shutdown_grace_seconds * 1000
  const others = within(grace, state.gateway.hooks.drain.promise())
  if (!(await idleWithin(state, grace))) {
    for (const client of state.inFlight.all()) client.interrupt()
    await idleWithin(state, SETTLE_MS)
  }
  await others
  state.log?.flush()
}

/** Waits for work, at most `limit` milliseconds. */
const within = async (limit: number, work: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limit)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}

/** Waits until no request is in flight, at most `limit` milliseconds; false if some are left. */
const idleWithin = (state: HttpServerState, limit: number): Promise<boolean> =>
  new Promise((resolve) => {
    if (state.inFlight.size === 0) return resolve(true)
    const end = performance.now() + limit
    const look = setInterval(() => {
      if (state.inFlight.size > 0 && performance.now() < end) return
      clearInterval(look)
      resolve(state.inFlight.size === 0)
    }, POLL_MS)
  })
