/** Characters of names and ids from outside. */
export const NAME_CHARS = 256

/** Characters of why something was decided. */
export const REASON_CHARS = 500

/** What checks found of one call, beyond which no more is kept. */
export const MAX_FINDINGS = 50
