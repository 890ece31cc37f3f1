export type { Attempt, Call, CallTrace, Envelope, Identity, Mode, Outcome, Part } from './call.ts'
export {
  type Clock,
  elapsed,
  endedMoment,
  type Moment,
  systemClock,
  timeSince,
} from './clock.ts'
export type * from './contracts/index.ts'
export { type Decision, type Finding, type Match, type ReplyWatch, type Row, undecided } from './decision.ts'
export { type Code, catalogue, type ErrorCode, errorCodes } from './errors/catalogue.ts'
export { errorOrigin, noteErrorOrigin, withErrorOrigin } from './errors/error-origin.ts'
export { type ErrorBody, errorBody, GuardError, isFault, statusOf } from './errors.ts'
export { attributeLimits } from './fragment.ts'
export { Gateway, type GatewayOptions } from './gateway.ts'
export { Kind } from './kinds.ts'
export { readInto } from './pipeline/read-into.ts'
export { headerOf, isEventStream, relay } from './pipeline/relay.ts'
export { createTap, isPlain } from './pipeline/tap.ts'
export { handle, settleLate } from './pipeline.ts'
export {
  apiStyle,
  contribution,
  detector,
  type Plugin,
  plainSchema,
  storage,
} from './plugin.ts'
export { Registry } from './registry.ts'
export { Service } from './service.ts'
export type { Caller, Session, SessionRow } from './session.ts'
export type { Cost, Reading, RepliedTool, Settled } from './settled.ts'
export { stages } from './stages.ts'
export { table } from './table.ts'
export { failureTags, spanKinds } from './trace.ts'
export type { Chain, Conversation, LooseResult, ToolCall, ToolEffect, Turn, TurnContent } from './turns.ts'
export { noUsage, totalled, type Usage } from './usage.ts'
