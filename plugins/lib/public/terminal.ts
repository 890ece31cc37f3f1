export { columnLines, listedId, listedTime, painter, terminalWidth, wholeId, wrapLine } from '../terminal.ts'
