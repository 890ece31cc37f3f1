import { type MessagePort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import type { Start } from './protocol.ts'

/** What has come while pages were moved is moved at once, unless more and more comes. */
const TIMES = 4

const { file, synchronous, port } = workerData as Pick<Start, 'file' | 'synchronous'> & { readonly port: MessagePort }

const db = new Sqlite(file, { fileMustExist: true })
db.pragma('wal_autocheckpoint = 0')
db.pragma('mmap_size = 0')
db.pragma(`synchronous = ${synchronous}`)
const move = db.prepare('pragma wal_checkpoint(passive)').raw()
const look = db.prepare('pragma wal_checkpoint(noop)').raw()

const isAllMoved = (): boolean => {
  const [, pages, moved] = look.get() as readonly number[]
  return pages === moved
}

port.on('message', () => {
  try {
    for (let time = 0; time < TIMES; time++) {
      move.get()
      if (isAllMoved()) break
    }
  } catch {
    // the journal keeps what was committed, and a disk that is full or broken fails the next commit
  }
  port.postMessage('ended')
})
