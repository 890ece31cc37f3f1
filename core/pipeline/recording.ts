import type { Call } from '../call.ts'
import { GuardError } from '../errors.ts'
import type { Gateway } from '../gateway.ts'

const RETRY_AFTER_SECONDS = '5'

/**
 * Whether a call's record can be kept. False: it may pass all the same, and nothing waits for its record.
 * Throws STORAGE_FULL or STORAGE_UNAVAILABLE where what cannot be recorded must not pass; enforced requests never do.
 */
export const recordable = (gateway: Gateway, call: Call): boolean => {
  const { state } = gateway.storage
  if (state === 'ok' || state === 'busy') return true
  if (gateway.onStorageFailure === 'forward' && call.mode === 'shadow') return false
  throw new GuardError(state === 'full' ? 'STORAGE_FULL' : 'STORAGE_UNAVAILABLE', undefined, {
    headers: { 'retry-after': RETRY_AFTER_SECONDS },
  })
}
