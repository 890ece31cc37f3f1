import type { StorageState } from 'guard-gateway/core'
import type { HttpServerState } from './http-server-state.ts'
import type { Level } from './log.ts'

const SLOW_LINES_MS = 60_000

const lines: Record<StorageState, readonly [Level, string]> = {
  ok: ['info', 'The storage records again.'],
  busy: [
    'warn',
    'The storage is slow: a write has taken longer than a second. Requests wait up to 5 s for their record, which is written when the storage can.',
  ],
  full: ['error', 'The storage is full: nothing is recorded, and what must be recorded is refused. Free space for it.'],
  failing: ['error', 'The storage fails: nothing is recorded, and what must be recorded is refused.'],
}

/** Logs changes of the storage's state; a slow one once a minute. To be called when the storage is open. */
export const logStorage = ({ gateway, log }: HttpServerState): void => {
  let slow_at = Number.NEGATIVE_INFINITY
  let isLogged = false
  gateway.storage.onState((state) => {
    const now = gateway.clock.tick()
    if (state === 'ok' ? !isLogged : state === 'busy' && now - slow_at < SLOW_LINES_MS) return
    if (state === 'busy') slow_at = now
    isLogged = state !== 'ok'
    const [level, message] = lines[state]
    log?.line(level, { message })
  })
}
