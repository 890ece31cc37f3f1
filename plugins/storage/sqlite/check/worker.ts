import { parentPort, workerData } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown }).code)

/** Checks the whole file. Returns the fault, or undefined. */
const faultIn = (file: string): string | undefined => {
  try {
    const db = new Sqlite(file, { readonly: true })
    try {
      const found = String(db.pragma('quick_check(1)', { simple: true }))
      return found === 'ok' ? undefined : found
    } finally {
      db.close()
    }
  } catch (error) {
    const code = codeOf(error)
    // a file that is locked or missing says nothing about its contents
    return code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB' ? code : undefined
  }
}

parentPort?.postMessage(faultIn(String(workerData)))
