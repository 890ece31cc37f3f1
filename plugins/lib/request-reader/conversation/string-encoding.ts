import { asText, type Encoding } from './byte-strings.ts'
import type { ContentHash } from './content-hash.ts'

/** How the strings of a parsed list stand for texts. */
export interface Wording {
  readonly encoding: Encoding
  /** A string without stand-ins, its characters still those of the encoding. */
  spelled(string: string): string
  /** A value with texts in place of its strings. */
  told<T>(value: T): T
  /** What the hash of a result or message is, where that is known of a string without spelling it: its text is no error, and nothing is left out of it. */
  known(string: string): (ContentHash & { readonly hash: string }) | undefined
}

/** Strings that hold all of their texts. */
export const literal: Readonly<Record<Encoding, Wording>> = {
  utf8: { encoding: 'utf8', spelled: (string) => string, told: (value) => value, known: () => undefined },
  latin1: { encoding: 'latin1', spelled: (string) => string, told: asText, known: () => undefined },
}
