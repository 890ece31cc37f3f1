import type { Step, StepCall } from './trajectory.ts'
import type { Waste } from './waste.ts'

/** One request of a case as a client sends it, and the end of its reply. */
export interface CaseRequest {
  /** A Messages body. */
  readonly body: Buffer
  /** Tokens of request and reply. */
  readonly tokens: number
  /** The upstream error, in place of a reply. */
  readonly fails?: { readonly status: number; readonly type: string; readonly message: string }
}

/** Evidence that detectors need and some collections lack. */
export type Evidence = 'turns' | 'result text' | 'upstream errors' | 'reply text' | 'prices'

/** A run to judge, with its labels. */
export interface Case {
  readonly id: string
  readonly suite: 'corpus' | 'synthetic'
  /** The collection of a recorded run. */
  readonly collection: string | null
  readonly source: string
  /** Null if each case is a task of its own. */
  readonly task: string | null
  readonly split: string | null
  readonly kind: string | null
  readonly label: 'loop' | 'clean' | 'ambiguous' | null
  /** Counted from 1. */
  readonly loop_start_step: number | null
  readonly resolved: boolean | null
  /** Null for a run without a loop. */
  readonly waste: Waste | null
  /** Estimated from characters, without recorded counts. */
  readonly tokens_estimated: boolean
  readonly evidence: ReadonlySet<Evidence>
  /** The turns of its history. Null for a program that sends no history. */
  readonly turns: readonly Step[] | null
  /** Tokens per request. */
  tokens(): readonly number[]
  requests(): Iterable<CaseRequest>
}

/** True if the case lacks evidence that the judgement needs. */
export const missingIn = ({ evidence }: Case, needs: readonly Evidence[]): boolean =>
  needs.some((need) => !evidence.has(need))

const CHARS_PER_TOKEN = 4

/** Estimated tokens of a number of characters. */
export const tokensOf = (chars: number): number => Math.ceil(chars / CHARS_PER_TOKEN)

/** A hash in letters only. The masking of digits in errors then does not change it. */
export const letters = (hash: string): string =>
  hash.replace(/\d/g, (digit) => String.fromCharCode('g'.charCodeAt(0) + Number(digit)))

/** Arguments as the object that a Messages body needs. */
export const inputOf = ([, args]: StepCall): object =>
  typeof args === 'object' && args !== null && !Array.isArray(args) ? args : { arguments: args ?? '' }
