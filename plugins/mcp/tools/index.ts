export { ToolBook } from './book.ts'
export { toolTable } from './tables.ts'
