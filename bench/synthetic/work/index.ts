import { changes } from './changes.ts'
import { checked } from './checks.ts'
import { waits } from './polls.ts'
import { reads } from './reads.ts'
import { texts } from './texts.ts'
import type { WorkKinds } from './work.ts'

/** Normal work of current clients, in their words and frames. No rule may stop it. */
export const ordinaryWork: WorkKinds = { ...changes, ...checked, ...waits, ...reads, ...texts }
