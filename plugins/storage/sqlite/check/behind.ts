import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { GuardError } from 'guard-gateway/core'

/** Reads a file through in a thread of its own, while it is in use; tells of damage. What it returns ends it. */
export const checkBehind = (
  file: string,
  told: { onDamage(error: GuardError): void; onFault(error: unknown): void },
): (() => void) => {
  const worker = new Worker(new URL(`./worker${extname(import.meta.filename)}`, import.meta.url), {
    workerData: file,
    name: 'guard-check',
  })
  worker.unref()
  worker.on('message', (fault: string | undefined) => {
    if (fault === undefined) return
    const message = `The database ${file} is damaged (${fault}). Stop the gateway, then restore a backup or move the file away.`
    told.onDamage(new GuardError('DATABASE_DAMAGED', message))
  })
  worker.on('error', told.onFault)
  return () => void worker.terminate()
}
