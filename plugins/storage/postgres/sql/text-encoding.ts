const RESERVED = /[\u0000\u0001]/
const ALL_RESERVED = /[\u0000\u0001]/g
const ENCODED = /\u0001[\u0001\u0002]/g

/**
 * A text as PostgreSQL takes it, which has no U+0000: U+0000 becomes U+0001 U+0001, and U+0001 becomes U+0001 U+0002.
 * No two texts become the same one, and their order by code points stays. A lone surrogate becomes U+FFFD when it is sent.
 */
export const encodeText = (text: string): string =>
  RESERVED.test(text)
    ? text.replace(ALL_RESERVED, (char) => (char === '\u0000' ? '\u0001\u0001' : '\u0001\u0002'))
    : text

/** The inverse of `encodeText`. */
export const decodeText = (text: string): string =>
  text.includes('\u0001') ? text.replace(ENCODED, (pair) => (pair[1] === '\u0001' ? '\u0000' : '\u0001')) : text
