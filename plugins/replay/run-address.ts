/** Where the pages show a run. */
export const urlOf = (trace_id: string): string => `/replay/${encodeURIComponent(trace_id)}`

/** Browsers take dots in a path for folders, and the two words have pages of their own. */
const taken = new Set(['.', '..', 'import', 'compare'])

/** A run of this id could be shown. */
export const isAddressable = (trace_id: string): boolean => !taken.has(trace_id)
