export { commandKind } from '../command.ts'
