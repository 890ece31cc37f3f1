export { ToolBook } from './book.ts'
export { Pins } from './pins.ts'
export { pinDifference, pinOf, waitingTools } from './seen-elsewhere.ts'
export { type ToolRow, toolTable } from './tables.ts'
