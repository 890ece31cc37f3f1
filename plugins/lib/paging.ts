export { datedCursor, parseDatedCursor } from './paging/dated-cursor.ts'
export { pages } from './paging/pages.ts'
export { findUnsummed } from './paging/unsummed.ts'
