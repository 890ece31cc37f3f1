export { quoted, terminalLine } from '../text.ts'
