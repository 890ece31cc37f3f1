export type {
  Artifact,
  Attributes,
  FailureTag,
  Guard,
  GuardOptions,
  Leaf,
  ModelRequest,
  ModelResponse,
  ModelSpan,
  ModelUsage,
  Span,
  Stats,
  Status,
  ToolCall,
  Trace,
  TraceOptions,
} from './api.ts'
export { GuardIngestError, GuardUseError, type UseCode } from './errors.ts'
export { createGuard } from './guard.ts'
