export { ToolBook } from './book.ts'
