import { type Plugin, type StorageBackend, storage } from 'guard-gateway/core'
import { storageCommands } from './commands.ts'
import { openDriver } from './driver.ts'
import { noteHolder } from './file/holder.ts'
import { realName } from './file/name.ts'

export interface SqliteOptions {
  /** `guard.db` if absent. */
  readonly file?: string
  /** What a commit survives: `normal` the death of the process, `full` a power cut too. Changes marked `sync` always survive both. */
  readonly synchronous?: 'normal' | 'full'
  /** Refuse to open while another gateway has the file; one that is opened to work beside it never does. True if absent. */
  readonly exclusive?: boolean
  /** Bytes of the journal from which on nothing is written until it is shorter; no limit but the disk if absent or null. */
  readonly max_journal_bytes?: number | null
}

/** One SQLite file, kept by one worker thread, so that the event loop never waits for a disk. */
export const sqlite = ({
  file = 'guard.db',
  synchronous = 'normal',
  exclusive = true,
  max_journal_bytes = null,
}: SqliteOptions = {}): StorageBackend & Plugin => {
  let isHeld = false
  const backend = storage({
    id: 'sqlite',
    async open(tables, context) {
      const alone = exclusive && context.beside !== true
      const driver = await openDriver(tables, context, {
        file: realName(file),
        synchronous,
        exclusive: alone,
        max_journal_bytes: max_journal_bytes ?? 0,
        busy_ms: 5_000,
        max_pages: 0,
        slow_ms: 1_000,
        retry_ms: 1_000,
      })
      isHeld = alone
      return driver
    },
  })
  return {
    ...backend,
    apply(gateway) {
      backend.apply(gateway)
      for (const command of storageCommands(file)) gateway.commands.add(command)
      // told to a second gateway that is refused, and to commands that look for this one
      gateway.hooks.listen.tap(backend.name, (url) => {
        if (isHeld) noteHolder(realName(file), url)
      })
    },
  }
}

/** Where the gateway that has the database `file` answers; undefined if none has it, or it listens nowhere. */
export const holdersAddress = async (file: string): Promise<string | undefined> => {
  const { holderOf } = await import('./file/lock.ts')
  return holderOf(realName(file))?.address || undefined
}
