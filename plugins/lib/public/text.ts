export { terminalLine } from '../text.ts'
