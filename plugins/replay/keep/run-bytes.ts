/** What a run takes in memory beside what grows; about, as all of these. */
const RUN_BYTES = 6_000
/** A record that is not summed up or not stored yet. */
const RECORD_BYTES = 250
/** A word by which it is found. */
const WORD_BYTES = 80

/** What a run takes in memory, about; `spans` in bytes. */
export const runBytes = (of: { readonly spans: number; readonly records: number; readonly words: number }): number =>
  RUN_BYTES + of.spans + of.records * RECORD_BYTES + of.words * WORD_BYTES
