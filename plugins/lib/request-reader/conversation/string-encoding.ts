import { asText, type Encoding } from './byte-strings.ts'
import type { ContentHash } from './content-hash.ts'

/** How the strings of a parsed list encode texts: as text or bytes, and with or without placeholders for long texts. */
export interface StringEncoding {
  readonly encoding: Encoding
  /** Replaces the placeholders of a string by their texts. Its characters stay in the encoding. */
  expand(string: string): string
  /** Decodes all strings of a value to text. */
  decode<T>(value: T): T
  /** The hash of a result or message, if it is known without expanding the string: its text is no error and has nothing that hashes leave out. */
  knownHash(string: string): (ContentHash & { readonly hash: string }) | undefined
}

/** Encodings without placeholders. */
export const literal: Readonly<Record<Encoding, StringEncoding>> = {
  utf8: { encoding: 'utf8', expand: (string) => string, decode: (value) => value, knownHash: () => undefined },
  latin1: { encoding: 'latin1', expand: (string) => string, decode: asText, knownHash: () => undefined },
}
