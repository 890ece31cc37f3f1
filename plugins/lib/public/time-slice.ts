export { inTurns, Pace } from '../time-slice.ts'
