import {
  type Call,
  type Driver,
  type Gateway,
  GuardError,
  type OnStorageFailure,
  type Plugin,
  type Storage,
  type StorageBackend,
  type Store,
  stages,
  withOrigin,
} from 'guard-gateway/core'
import { createStore } from './create-store.ts'
import { storeErrors } from './error-codes.ts'

export { createStore, type StoreOptions as CreateStoreOptions } from './create-store.ts'

export interface StoreOptions {
  /** Id of the storage backend; the first registered one if absent. */
  readonly backend?: string
  /** `refuse` if absent. */
  readonly on_failure?: OnStorageFailure
}

/** Opens the storage backend, puts the typed and redacting face on it, closes it, and refuses calls that cannot be recorded. */
export const store = ({ backend, on_failure = 'refuse' }: StoreOptions = {}): Plugin => ({
  name: 'store',
  requires: ['redaction'],
  apply(gateway: Gateway) {
    gateway.errorCodes.add(...Object.values(storeErrors))
    let storage: Storage | undefined
    const own: Store = {
      onFailure: on_failure,
      get storage() {
        return storage
      },
    }
    gateway.service('store').provide(own)
    gateway.hooks.open.tapPromise({ name: 'store', stage: stages.open.storage }, async ({ beside }) => {
      if (storage !== undefined) return
      const [first] = gateway.storages
      const opened = backend === undefined ? first : gateway.storages.need(backend)
      if (opened === undefined) throw new GuardError('MISSING_PLUGIN', 'No storage backend is registered.')
      const tables = [...gateway.tables]
      const { redactor: redact, cleaned } = gateway.service('redaction').need()
      const driver = await openedBy(opened, tables, { fault: gateway.fault, beside })
      storage = createStore(driver, tables, { redact, cleaned })
    })
    gateway.hooks.request.tap({ name: 'store', stage: stages.request.recordable }, (call) => {
      if (!recordable(gateway.storage, own.onFailure, call)) call.notes.recorded = false
    })
    gateway.hooks.close.tapPromise({ name: 'store', stage: stages.close.storage }, async () => {
      await storage?.close()
      storage = undefined
    })
  },
})

/** What a backend throws is its own fault, not the store's. */
const openedBy = async (backend: StorageBackend, ...args: Parameters<StorageBackend['open']>): Promise<Driver> => {
  try {
    return await backend.open(...args)
  } catch (error) {
    throw withOrigin(error, `open:storage/${backend.id}`)
  }
}

const RETRY_AFTER_SECONDS = '5'

/**
 * Whether a call's record can be kept. False: it may pass all the same, and nothing waits for its record.
 * Throws STORAGE_FULL or STORAGE_UNAVAILABLE where what cannot be recorded must not pass; enforced requests never do.
 */
const recordable = ({ state }: Storage, onFailure: OnStorageFailure, call: Call): boolean => {
  if (state === 'ok' || state === 'busy') return true
  if (onFailure === 'forward' && call.mode === 'shadow') return false
  throw new GuardError(state === 'full' ? 'STORAGE_FULL' : 'STORAGE_UNAVAILABLE', undefined, {
    headers: { 'retry-after': RETRY_AFTER_SECONDS },
  })
}
