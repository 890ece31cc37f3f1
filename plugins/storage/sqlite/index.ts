import { type Plugin, type StorageBackend, storage } from 'guard-gateway/core'
import { commandKind } from 'guard-gateway/lib/command'
import { storageCommands } from './commands.ts'
import { openDriver } from './driver.ts'
import { noteHolder } from './file/holder.ts'
import { realPath } from './file/path.ts'

export interface SqliteOptions {
  /** `guard.db` if absent. */
  readonly file?: string
  /** What a commit survives: `normal` the death of the process, `full` also a power cut. A change marked `sync` always survives both. */
  readonly synchronous?: 'normal' | 'full'
  /** Refuse to open while another gateway has the file; true if absent. Storage that is opened with `beside` never refuses. */
  readonly exclusive?: boolean
  /** Nothing is written while the journal has more bytes than this. Only the disk limits it if absent or null. */
  readonly max_journal_bytes?: number | null
}

/** Storage in one SQLite file. One worker thread has it open, so that the event loop never waits for a disk. */
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
        file: realPath(file),
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
      for (const command of storageCommands(file)) gateway.registry(commandKind).add(command)
      // a second gateway that is refused names this address, and commands call it
      gateway.hooks.listen.tap(backend.name, (url) => {
        if (isHeld) noteHolder(realPath(file), url)
      })
    },
  }
}

/** The address of the gateway that has the database `file` open; undefined if no gateway has it, or it does not listen. */
export const holdersAddress = async (file: string): Promise<string | undefined> => {
  const { holderOf } = await import('./file/lock.ts')
  return holderOf(realPath(file))?.address || undefined
}
