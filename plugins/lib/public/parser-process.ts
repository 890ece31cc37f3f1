export { type ParserModule, parserProcess } from '../parser-process.ts'
