export {
  type ParserLimits,
  type ParserModule,
  ParserProcess,
  ParserProcessError,
  parserProcess,
} from './parser-process/parser-process.ts'
