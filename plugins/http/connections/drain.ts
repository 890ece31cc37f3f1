import type { Server } from 'node:http'
import type { HttpFace } from '../face.ts'

/** How long what was interrupted may take to be recorded and ended. */
const SETTLE_MS = 2_000
const LOOK_MS = 10

/** Ends the work of a server in time: nothing new, open replies to their end or for `shutdown_grace_seconds`, then they are broken off. */
export const drain = async (face: HttpFace, server: Server): Promise<void> => {
  face.draining = true
  server.close()
  server.closeIdleConnections()
  if (!(await emptied(face, face.server.shutdown_grace_seconds * 1000))) {
    for (const client of face.exchanges.all()) client.interrupt()
    await emptied(face, SETTLE_MS)
  }
  face.log?.flush()
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
