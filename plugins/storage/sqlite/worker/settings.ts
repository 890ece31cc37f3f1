import type { Database } from 'better-sqlite3'
import { KEPT_BYTES } from '../checkpoints/journal.ts'
import { Refusal } from '../file/refusal.ts'
import type { OpenOptions } from '../protocol.ts'

const CACHE_KIB = 4_096

/** The pragmas of a connection: name, the value that is set, and the value that SQLite must then report. */
const pragmas = ({
  synchronous,
  busy_ms,
}: OpenOptions): readonly (readonly [name: string, set: string, read: string | number])[] => [
  ['busy_timeout', String(busy_ms), busy_ms],
  ['journal_mode', 'WAL', 'wal'],
  ['synchronous', synchronous, synchronous === 'full' ? 2 : 1],
  // when pages move (auto_vacuum), a commit searches the whole cache; the system caches the other pages
  ['cache_size', String(-CACHE_KIB), -CACHE_KIB],
  ['foreign_keys', 'ON', 1],
  ['trusted_schema', 'OFF', 0],
  ['cell_size_check', 'ON', 1],
  // without a memory map an I/O error is an error code, not a signal
  ['mmap_size', '0', 0],
  ['secure_delete', 'FAST', 2],
  ['journal_size_limit', String(KEPT_BYTES), KEPT_BYTES],
  // checkpoints run in another thread, not within commits
  ['wal_autocheckpoint', '0', 0],
]

/** Sets every pragma and reads it back. Throws DATABASE_UNWRITABLE, which names the one that SQLite did not accept. */
export const applySettings = (db: Database, options: OpenOptions): void => {
  for (const [name, set, read] of pragmas(options)) {
    db.pragma(`${name} = ${set}`)
    const actual = db.pragma(name, { simple: true })
    if (actual !== read) {
      throw new Refusal(
        'DATABASE_UNWRITABLE',
        `The database ${options.file} cannot be run with ${name} = ${set}; it stays ${String(actual)}. A local disk is needed: network file systems lack the locks.`,
      )
    }
  }
  if (options.max_pages > 0) db.pragma(`max_page_count = ${options.max_pages}`)
}
