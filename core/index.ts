export type { Attempt, Call, CallTrace, Envelope, Identity, Mode, Outcome, Part } from './call.ts'
export {
  type Clock,
  elapsed,
  endedMoment,
  instantOf,
  isTimeZone,
  type Moment,
  systemClock,
  systemZone,
  timeOf,
  timeSince,
} from './clock.ts'
export type * from './contracts/index.ts'
export type { ProxyAddress } from './contracts/upstream-client.ts'
export { type Decision, type Finding, type Match, type ReplyWatch, type Row, undecided } from './decision.ts'
export { type Code, catalogue } from './errors/catalogue.ts'
export { errorEntry, isKnownCode } from './errors/entry.ts'
export { throwerOf, thrownBy } from './errors/error-origin.ts'
export { thrownStack, thrownText } from './errors/thrown-text.ts'
export { onUncaught } from './errors/uncaught.ts'
export { type ErrorBody, errorBody, GuardError, inFile, isFault, refusals, statusOf, unwritable } from './errors.ts'
export {
  attributeLimits,
  type Fragment,
  type FragmentArtifact,
  type FragmentEvent,
  type FragmentRun,
  type FragmentWarning,
  type Kept,
  type RunLabels,
} from './fragment.ts'
export { Gateway, type GatewayOptions } from './gateway.ts'
export type { Hooks } from './hooks.ts'
export { APPROVER_FLAG, APPROVER_HEADER, approver, approverField, approverHeaders } from './keys/approver.ts'
export { identities } from './keys/identities.ts'
export { logins } from './keys/logins.ts'
export { holdsOwnKey } from './keys/own-keys.ts'
export { readInto } from './pipeline/read-into.ts'
export { headerOf, isEventStream, type Relayed, relay } from './pipeline/relay.ts'
export { isPlain } from './pipeline/tap.ts'
export { handle } from './pipeline.ts'
export {
  apiStyle,
  detector,
  exportFormat,
  mcpCheck,
  mcpTransport,
  type Plugin,
  plainSchema,
  storage,
  upstreamClient,
} from './plugin.ts'
export { Registry } from './registry.ts'
export { type Caller, newSessionRow, type Session, type SessionBeginning, type SessionRow } from './session.ts'
export type { Cost, Reading, RepliedTool, Settled } from './settled.ts'
export { table } from './store/table.ts'
export { createStore, type StoreOptions } from './store.ts'
export {
  type Artifact,
  type Attributes,
  type FailureEvidence,
  type FailureTag,
  failureTags,
  type Origin,
  type Owner,
  type Records,
  type Run,
  type Severity,
  type Span,
  type Span as TraceSpan,
  type SpanKind,
  spanKinds,
  type Trace,
  type TraceEvent,
  type TreeNode,
  type TreeSpan,
} from './trace.ts'
export type { Chain, Conversation, LooseResult, ToolCall, ToolEffect, Turn, TurnContent } from './turns.ts'
export { noUsage, totalled, type Usage } from './usage.ts'
