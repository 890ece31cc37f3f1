import { statSync } from 'node:fs'
import type { OpenOptions } from '../protocol.ts'

/** One check takes as long as writing a row. */
const CHECK_MS = 1_000

const identityOf = (name: string): string => {
  const found = statSync(name, { throwIfNoEntry: false })
  return found === undefined ? 'none' : `${found.dev} ${found.ino}`
}

const identities = (file: string): string => [file, `${file}-wal`].map(identityOf).join()

/**
 * Called when a database has been opened. The returned function says whether the names of the database and its journal still lead
 * to the same files (device and inode) as then. It looks at most once per `look_ms`. Rows that are written to a removed file are lost.
 */
export const watchFileIdentity = ({
  file,
  look_ms = CHECK_MS,
}: Pick<OpenOptions, 'file' | 'look_ms'>): (() => boolean) => {
  const opened = identities(file)
  let checked_at = performance.now()
  return () => {
    const now = performance.now()
    if (now - checked_at < look_ms) return true
    checked_at = now
    return identities(file) === opened
  }
}
