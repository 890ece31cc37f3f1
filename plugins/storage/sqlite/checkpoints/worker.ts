import { type MessagePort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import type { Start } from '../protocol.ts'

/** What has come while pages were moved is moved at once where it is little, so often at most. */
const TIMES = 4
const FEW = 500

const { file, synchronous, port } = workerData as Pick<Start, 'file' | 'synchronous'> & { readonly port: MessagePort }

const db = new Sqlite(file, { fileMustExist: true })
db.pragma('wal_autocheckpoint = 0')
db.pragma('mmap_size = 0')
db.pragma(`synchronous = ${synchronous}`)
const move = db.prepare('pragma wal_checkpoint(passive)').raw()
const look = db.prepare('pragma wal_checkpoint(noop)').raw()

/** Whether little has come meanwhile, but some. */
const isLittleLeft = (): boolean => {
  const [, pages = 0, moved = 0] = look.get() as readonly number[]
  return pages > moved && pages - moved <= FEW
}

port.on('message', () => {
  try {
    let time = 0
    do move.get()
    while (++time < TIMES && isLittleLeft())
  } catch {
    // the journal keeps what was committed, and a disk that is full or broken fails the next commit
  }
  port.postMessage('ended')
})
