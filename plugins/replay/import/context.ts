import type { ImportContext } from '#lib/export-format'
import { argumentHash } from '#lib/trace'

/** What readers get; `key`: that of this installation for argument hashes. */
export const importContext = (key: string): ImportContext => ({ argumentHash: (args) => argumentHash(key, args) })
