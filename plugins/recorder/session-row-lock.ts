import type { Session } from 'guard-gateway/core'

type Write = () => Promise<void>

/** Serialises writes until the session's row is stored: the first write of a session inserts its row. */
export const sessionRowLock = (): ((session: Session | null, write: Write) => Promise<void>) => {
  const storing = new WeakMap<Session, Promise<void>>()
  const locked = async (session: Session, write: Write): Promise<void> => {
    for (let first = storing.get(session); first !== undefined; first = storing.get(session)) await first
    if (session.stored === true) return write()
    const writing = write()
    storing.set(
      session,
      writing.catch(() => {}).finally(() => storing.delete(session)),
    )
    return writing
  }
  // most sessions are stored, and each promise costs time
  return (session, write) => (session === null || session.stored === true ? write() : locked(session, write))
}
