import { type Call, GuardError, type OnStorageFailure, type Storage } from 'guard-gateway/core'

const RETRY_AFTER_SECONDS = '5'

/**
 * Whether a call's record can be kept. False: it may pass all the same, and nothing waits for its record.
 * Throws STORAGE_FULL or STORAGE_UNAVAILABLE where what cannot be recorded must not pass; enforced requests never do.
 */
export const recordable = ({ state }: Storage, onFailure: OnStorageFailure, call: Call): boolean => {
  if (state === 'ok' || state === 'busy') return true
  if (onFailure === 'forward' && call.mode === 'shadow') return false
  throw new GuardError(state === 'full' ? 'STORAGE_FULL' : 'STORAGE_UNAVAILABLE', undefined, {
    headers: { 'retry-after': RETRY_AFTER_SECONDS },
  })
}
