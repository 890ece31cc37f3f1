import type { Database } from 'better-sqlite3'
import { KEPT_BYTES } from '../checkpoints/journal.ts'
import { Refusal } from '../file/refusal.ts'
import type { Start } from '../protocol.ts'

const CACHE_KIB = 4_096

/** Every setting that matters, by name: what is set and what then must be read back. */
const wanted = ({
  synchronous,
  busy_ms,
}: Start): readonly (readonly [name: string, set: string, read: string | number])[] => [
  ['busy_timeout', String(busy_ms), busy_ms],
  ['journal_mode', 'WAL', 'wal'],
  ['synchronous', synchronous, synchronous === 'full' ? 2 : 1],
  // whenever pages have changed places, a commit looks through all that are cached; the rest the system has in memory
  ['cache_size', String(-CACHE_KIB), -CACHE_KIB],
  ['foreign_keys', 'ON', 1],
  ['trusted_schema', 'OFF', 0],
  ['cell_size_check', 'ON', 1],
  // an I/O error then stays an error code and does not become a signal
  ['mmap_size', '0', 0],
  ['secure_delete', 'FAST', 2],
  ['journal_size_limit', String(KEPT_BYTES), KEPT_BYTES],
  // checkpoints run beside commits, not inside them
  ['wal_autocheckpoint', '0', 0],
]

/** Sets every setting and reads it back; throws DATABASE_UNWRITABLE naming the one that does not hold. */
export const applySettings = (db: Database, start: Start): void => {
  for (const [name, set, read] of wanted(start)) {
    db.pragma(`${name} = ${set}`)
    const got = db.pragma(name, { simple: true })
    if (got !== read) {
      throw new Refusal(
        'DATABASE_UNWRITABLE',
        `The database ${start.file} cannot be run with ${name} = ${set}; it stays ${String(got)}. A local disk is needed: network file systems lack the locks.`,
      )
    }
  }
  if (start.max_pages > 0) db.pragma(`max_page_count = ${start.max_pages}`)
}
