export { OffThread, type OffThreadModule, OffThreadTimeout } from './off-thread/off-thread.ts'
