export { datedCursor, resumed } from './paging/dated-cursor.ts'
export { lookBack } from './paging/look-back.ts'
export { pages } from './paging/pages.ts'
