export {
  CHECK_TIMED_OUT,
  findViolations,
  type PointerValue,
  textsAtPointers,
  type Violation,
  valuesAtPointer,
} from '../check-arguments.ts'
