import { type Plugin, type StorageBackend, storage } from 'guard-gateway/core'
import { storageCommands } from './commands.ts'
import { openDriver } from './driver.ts'

export interface SqliteOptions {
  /** `guard.db` if absent. */
  readonly file?: string
  /** What a commit survives: `normal` the death of the process, `full` a power cut too. Changes marked `sync` always survive both. */
  readonly synchronous?: 'normal' | 'full'
  /** Refuse to open while another gateway has the file; one that is opened to work beside it never does. True if absent. */
  readonly exclusive?: boolean
  /** Where this gateway answers, told to a second one that is refused and to commands that look for it. */
  readonly address?: string
}

/** One SQLite file, kept by one worker thread, so that the event loop never waits for a disk. */
export const sqlite = ({
  file = 'guard.db',
  synchronous = 'normal',
  exclusive = true,
  address = '',
}: SqliteOptions = {}): StorageBackend & Plugin => {
  const backend = storage({
    id: 'sqlite',
    open: (tables, context) =>
      openDriver(tables, context, {
        file,
        synchronous,
        exclusive: exclusive && context.beside !== true,
        address,
        busy_ms: 5_000,
        max_pages: 0,
        slow_ms: 1_000,
        retry_ms: 1_000,
      }),
  })
  return {
    ...backend,
    apply(gateway) {
      backend.apply(gateway)
      for (const command of storageCommands(file)) gateway.commands.add(command)
    },
  }
}

/** Where the gateway that has the database `file` was to answer; undefined if none has it. */
export const holdersAddress = async (file: string): Promise<string | undefined> => {
  const { holderOf } = await import('./lock.ts')
  return holderOf(file)?.address || undefined
}
