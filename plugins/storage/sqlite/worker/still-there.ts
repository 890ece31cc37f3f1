import { statSync } from 'node:fs'
import type { Start } from '../protocol.ts'

/** A look takes as long as writing a row. */
const LOOK_MS = 1_000

const nodeOf = (name: string): string => {
  const found = statSync(name, { throwIfNoEntry: false })
  return found === undefined ? 'none' : `${found.dev} ${found.ino}`
}

const nodesOf = (file: string): string => [file, `${file}-wal`].map(nodeOf).join()

/**
 * Called when a database has been opened; what it returns tells whether file and journal are still those that bear their names,
 * as of the last look. What is written to removed ones nobody finds again, and another process may write to those in their place.
 */
export const stillThere = ({ file, look_ms = LOOK_MS }: Pick<Start, 'file' | 'look_ms'>): (() => boolean) => {
  const opened = nodesOf(file)
  let looked_at = performance.now()
  return () => {
    const now = performance.now()
    if (now - looked_at < look_ms) return true
    looked_at = now
    return nodesOf(file) === opened
  }
}
