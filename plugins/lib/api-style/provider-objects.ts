/** The kind of object that the segment behind this one names, in lower case: some servers overlook case; null: a name that belongs to nobody. */
const collections: ReadonlyMap<string, string | null> = new Map([
  ['responses', 'response'],
  ['completions', 'completion'],
  ['conversations', 'conversation'],
  ['interactions', 'interaction'],
  ['files', 'file'],
  ['uploads', 'upload'],
  ['batches', 'batch'],
  ['containers', 'container'],
  ['cachedcontents', 'cached_content'],
  ['prompts', 'prompt'],
  ['vector_stores', 'vector_store'],
  ['filesearchstores', 'vector_store'],
  ['evals', 'eval'],
  ['jobs', 'fine_tuning_job'],
  ['assistants', 'assistant'],
  ['threads', 'thread'],
  ['skills', 'skill'],
  ['videos', 'video'],
  ['tunedmodels', 'tuned_model'],
  ['model', null],
  ['models', null],
  ['items', null],
])

/** The segment behind this one is an id or a name, and no part of the path itself. */
export const isIdSegment = (before: string | undefined): boolean =>
  before !== undefined && collections.has(before.toLowerCase())
