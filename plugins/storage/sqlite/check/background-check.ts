import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { GuardError } from 'guard-gateway/core'
import { databaseErrors } from 'guard-gateway/lib/errors'

/** Checks a whole file in a separate thread while it is in use, and reports damage. The returned function ends the check. */
export const checkInBackground = (
  file: string,
  events: { onDamage(error: GuardError): void; onFault(error: unknown): void },
): (() => void) => {
  const worker = new Worker(new URL(`./worker${extname(import.meta.filename)}`, import.meta.url), {
    workerData: file,
    name: 'guard-check',
  })
  worker.unref()
  worker.on('message', (fault: string | undefined) => {
    if (fault === undefined) return
    const message = `The database ${file} is damaged (${fault}). Stop the gateway, then restore a backup or move the file away.`
    events.onDamage(new GuardError(databaseErrors.DATABASE_DAMAGED, message))
  })
  worker.on('error', events.onFault)
  return () => void worker.terminate()
}
