export { OffThread, type OffThreadModule, TooLate } from './off-thread/off-thread.ts'
