import { ADDRESS } from '../alphabet.ts'
import type { Kind } from '../hit.ts'

/** A test of the characters behind the anchor. */
export type Check = 'mixed' | 'digits' | 'issued' | 'uuid'

/** A key with a public shape: one of these anchors, then a run of one alphabet within these lengths. */
export interface KeyRule {
  readonly kind: Kind
  readonly anchors: readonly string[]
  readonly alphabet: number
  readonly min: number
  readonly max: number
  readonly check?: Check
}

/** Where a vendor names no longest length. */
export const LONG = 1_024

/** `max` is `min` if absent: most vendors issue one length. */
export const key = (anchors: string, alphabet: number, min: number, max = min, check?: Check): KeyRule => ({
  kind: 'key',
  anchors: anchors.split(' '),
  alphabet,
  min,
  max,
  ...(check === undefined ? {} : { check }),
})

/** An address whose path is the secret. */
export const webhook = (anchors: string, min: number): KeyRule => ({
  kind: 'url',
  anchors: anchors.split(' '),
  alphabet: ADDRESS,
  min,
  max: LONG * 4,
})
