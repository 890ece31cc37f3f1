export { argumentHash, canonicalJson } from './trace/argument-hash.ts'
export { argumentKey } from './trace/argument-key.ts'
export {
  type CallRecord,
  callColumns,
  newCallRecord,
  newTurnsOf,
  recordedCalls,
  rowOf,
  type SessionEvent,
  sessionEvent,
} from './trace/call-record.ts'
export type { Previews } from './trace/call-source.ts'
export {
  callRecords,
  decisionAttributes,
  decisionEventId,
  toolSpanId,
  totalInputTokens,
  traceOf,
  UNSEEN,
} from './trace/call-trace.ts'
export type {
  FigureBucket,
  FigureGroup,
  FigureSeries,
  FigureSums,
  Figures,
  FiguresAnswer,
  FiguresQuery,
} from './trace/figures.ts'
export type {
  FlagGroupTotal,
  FlagReport,
  FlagReportQuery,
  Flags,
  RuleReport,
  Savings,
  SinceFlag,
} from './trace/flag-report.ts'
export {
  type OpenCallRow,
  openCallTable,
  openRecordOf,
  type Prices,
  recordOfOpen,
  unsettled,
} from './trace/open-call.ts'
export { isPlayground, isPlaygroundProject, PLAYGROUND_UPSTREAM, playgroundProject } from './trace/playground.ts'
export { isProjectReplaceable, joinsProject, type ProjectSource } from './trace/project.ts'
export { RecentNames } from './trace/recent-names.ts'
export { defaultRootSpan, enclosingRootSpan } from './trace/root.ts'
export type {
  Artifact,
  FailureEvidence,
  Records,
  Run,
  SeenSpan,
  Trace,
  TraceEvent,
  TraceSpan,
  TreeNode,
  TreeSpan,
} from './trace/run.ts'
export type { ToolRecord } from './trace/tool-record.ts'
export {
  OBSERVED,
  resultAttributes,
  TOOL_ERROR,
  type ToolResult,
  ToolResults,
  withToolResult,
} from './trace/tool-results.ts'
export { toolDecision, toolEventId, toolRecords, toolTimes } from './trace/tool-trace.ts'
export { newSpanId, newTraceId, readTraceparent } from './trace/trace-ids.ts'
export { buildSpanTree, buildSpanTreePaced } from './trace/tree.ts'
export { resultsIn, turnsIn, turnText } from './trace/turn-text.ts'
