export {
  type PointerText,
  type PointerValue,
  textsAtPointers,
  type Violation,
  valuesAtPointer,
} from './check-arguments/pointer-values.ts'
export { CHECK_TIMED_OUT, findViolations } from './check-arguments/violations.ts'
