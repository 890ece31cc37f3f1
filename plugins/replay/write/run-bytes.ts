/** Estimated size of an empty run. */
const RUN_BYTES = 6_000
/** A record that is not summed or not stored yet. */
const RECORD_BYTES = 250
/** A search word. */
const WORD_BYTES = 80

/** Estimated size of a run in memory; `spans` in bytes. */
export const runBytes = (of: { readonly spans: number; readonly records: number; readonly words: number }): number =>
  RUN_BYTES + of.spans + of.records * RECORD_BYTES + of.words * WORD_BYTES
