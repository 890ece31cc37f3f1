import type { Gateway, StorageState } from 'guard-gateway/core'

const troubles: Partial<Record<StorageState, string>> = {
  full: 'The storage is full: nothing more is recorded, and what must be recorded is refused.',
  failing: 'The storage fails: nothing is recorded, and what must be recorded is refused.',
}

/** Tells of a storage that is full or fails. To be called when it is open. Returns what ends that. */
export const tellOfStorage = (gateway: Gateway): (() => void) =>
  gateway.storage.onState((state) => {
    const text = troubles[state]
    if (text !== undefined) gateway.hooks.notice.call({ event: 'storage_failing', subject: 'storage', text, path: '/' })
  })
