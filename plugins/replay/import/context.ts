import type { ImportContext } from 'guard-gateway/lib/export-format'
import { argumentHash } from 'guard-gateway/lib/trace'

/** What readers get; `key`: that of this installation for argument hashes. */
export const importContext = (key: string): ImportContext => ({ argumentHash: (args) => argumentHash(key, args) })
