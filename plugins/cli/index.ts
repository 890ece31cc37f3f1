export { cli } from './explain.ts'
export { nearest, suggestion } from './nearest.ts'
export { exits, paint, printError, printWarning } from './print.ts'
export { type CommandSource, runCli } from './run.ts'
