import type { Server } from 'node:http'
import type { HttpFace } from '../face.ts'

/** How long what was interrupted may take to be recorded and ended. */
const SETTLE_MS = 2_000
const LOOK_MS = 10

/** Ends the work of a gateway in time: nothing new, open replies to their end or for `shutdown_grace_seconds`, then they are broken off. `server`: the one that it has to itself. */
export const drain = async (face: HttpFace, server?: Server): Promise<void> => {
  face.draining = true
  server?.close()
  server?.closeIdleConnections()
  const grace = face.server.shutdown_grace_seconds * 1000
  const others = within(grace, face.gateway.hooks.drain.promise())
  if (!(await emptied(face, grace))) {
    for (const client of face.exchanges.all()) client.interrupt()
    await emptied(face, SETTLE_MS)
  }
  await others
  face.log?.flush()
}

/** Waits for work, at most so many milliseconds. */
const within = async (limit: number, work: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limit)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}

/** Waits until no exchange is under way, at most so many milliseconds; false if some still are. */
const emptied = (face: HttpFace, limit: number): Promise<boolean> =>
  new Promise((resolve) => {
    if (face.exchanges.size === 0) return resolve(true)
    const end = performance.now() + limit
    const look = setInterval(() => {
      if (face.exchanges.size > 0 && performance.now() < end) return
      clearInterval(look)
      resolve(face.exchanges.size === 0)
    }, LOOK_MS)
  })
