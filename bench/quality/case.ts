import type { Step, StepCall } from './trajectory.ts'
import type { Waste } from './waste.ts'

/** One request of a case as a client would send it, and how its reply ended. */
export interface CaseRequest {
  /** A Messages body. */
  readonly body: Buffer
  /** Of request and reply. */
  readonly tokens: number
  /** The upstream's error instead of a reply. */
  readonly fails?: { readonly status: number; readonly type: string; readonly message: string }
}

/** What detectors need that not every collection holds. */
export type Evidence = 'turns' | 'result text' | 'upstream errors' | 'reply text' | 'prices'

/** A run to be judged, and what is known of it. */
export interface Case {
  readonly id: string
  readonly suite: 'corpus' | 'synthetic'
  /** The collection of recorded runs that it is in. */
  readonly collection: string | null
  readonly source: string
  /** Null where each case is its own. */
  readonly task: string | null
  readonly split: string | null
  readonly kind: string | null
  readonly label: 'loop' | 'clean' | 'ambiguous' | null
  /** Counted from 1. */
  readonly loop_start_step: number | null
  readonly resolved: boolean | null
  /** Null if it is no loop. */
  readonly waste: Waste | null
  /** From characters, since nobody recorded them. */
  readonly tokens_estimated: boolean
  readonly holds: ReadonlySet<Evidence>
  /** The turns of its history; null for a program that sends none. */
  readonly turns: readonly Step[] | null
  /** What each request takes. */
  tokens(): readonly number[]
  asks(): Iterable<CaseRequest>
}

/** Whether a collection does not show what is needed to judge the case. */
export const missingIn = ({ holds }: Case, needs: readonly Evidence[]): boolean =>
  needs.some((need) => !holds.has(need))

const CHARS_PER_TOKEN = 4

/** Tokens that so many characters are about. */
export const tokensOf = (chars: number): number => Math.ceil(chars / CHARS_PER_TOKEN)

/** Hashes in letters, so that masking the digits of errors leaves them as they are. */
export const letters = (hash: string): string =>
  hash.replace(/\d/g, (digit) => String.fromCharCode('g'.charCodeAt(0) + Number(digit)))

/** Arguments as a Messages body wants them: an object. */
export const inputOf = ([, args]: StepCall): object =>
  typeof args === 'object' && args !== null && !Array.isArray(args) ? args : { arguments: args ?? '' }
