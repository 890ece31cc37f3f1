/** Address of a run's page. */
export const urlOf = (trace_id: string): string => `/replay/${encodeURIComponent(trace_id)}`

/** Dots are path segments for browsers, and the two words are other pages. */
const taken = new Set(['.', '..', 'import', 'compare'])

/** Whether a run with this id can have a page. */
export const isAddressable = (trace_id: string): boolean => !taken.has(trace_id)
