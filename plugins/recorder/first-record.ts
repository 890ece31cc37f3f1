import type { Session } from 'guard-gateway/core'

/** Runs writes that record a request. The first one of a session also stores its row, so those that come meanwhile wait for it. */
export const firstAlone = (): ((session: Session | null, write: () => Promise<void>) => Promise<void>) => {
  const storing = new WeakMap<Session, Promise<void>>()
  return async (session, write) => {
    if (session === null || session.stored === true) return write()
    for (let first = storing.get(session); first !== undefined; first = storing.get(session)) await first
    if (session.stored) return write()
    const writing = write()
    storing.set(
      session,
      writing.catch(() => {}).finally(() => storing.delete(session)),
    )
    return writing
  }
}
