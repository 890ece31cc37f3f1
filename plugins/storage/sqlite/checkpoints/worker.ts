import { type MessagePort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import type { OpenOptions } from '../protocol.ts'

/** If few pages were added during a checkpoint, they are checkpointed at once, at most so many times. */
const MAX_PASSES = 4
const FEW_PAGES = 500

const { file, synchronous, port } = workerData as Pick<OpenOptions, 'file' | 'synchronous'> & {
  readonly port: MessagePort
}

const db = new Sqlite(file, { fileMustExist: true })
db.pragma('wal_autocheckpoint = 0')
db.pragma('mmap_size = 0')
db.pragma(`synchronous = ${synchronous}`)
const checkpoint = db.prepare('pragma wal_checkpoint(passive)').raw()
const status = db.prepare('pragma wal_checkpoint(noop)').raw()

/** Whether a few pages were added meanwhile. */
const areFewLeft = (): boolean => {
  const [, pages = 0, moved = 0] = status.get() as readonly number[]
  return pages > moved && pages - moved <= FEW_PAGES
}

port.on('message', () => {
  try {
    let pass = 0
    do checkpoint.get()
    while (++pass < MAX_PASSES && areFewLeft())
  } catch {
    // the journal keeps all commits, and a full or broken disk fails the next commit
  }
  port.postMessage('ended')
})
