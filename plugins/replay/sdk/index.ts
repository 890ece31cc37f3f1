export type {
  Artifact,
  Attributes,
  FailureTag,
  Guard,
  GuardOptions,
  Leaf,
  Span,
  Stats,
  Status,
  Trace,
  TraceOptions,
} from './api.ts'
export { GuardIngestError, GuardUseError, type UseCode } from './errors.ts'
export { createGuard } from './guard.ts'
