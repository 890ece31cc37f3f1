export { budgetLeftSchema, leftText, shareLeft, tightestFirst } from './budget/left.ts'
export { type BudgetParams, budgetFault, budgetFinding, budgetWords, PERS, periodIn } from './budget/period.ts'
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
export { originalOf } from './conversation/attempts.ts'
export { endIn } from './conversation/beginnings.ts'
export { joinedTurns } from './conversation/new-turns.ts'
export { RecentHashes } from './conversation/recent-hashes.ts'
export { isContinued, type Known, type RepliedCall } from './conversation/stateful.ts'
export { turnsIn, turnText } from './conversation/turn-text.ts'
export { type Decision, type Finding, type Match, type ReplyWatch, type Row, undecided } from './decision.ts'
export { keepMarks, letterCounts, lettersIn, lettersOf, textMark } from './detection/letters.ts'
export { type LineCount, linesOf, noteLines, withoutVolatile } from './detection/lines.ts'
export { type FreshTurn, rememberTurns, type TurnNotes } from './detection/turn-memory.ts'
export {
  callOf,
  namesTool,
  periodOf,
  reachOf,
  requestPlaces,
  sameCalls,
  sameResults,
  toldTool,
  turnPlaces,
  turnsOfReply,
  turnsSinceUser,
} from './detection.ts'
export { commonEnvelope, conversationId, errorFields, tokenLimit } from './dialect/envelope.ts'
export { errorPrint, maskedMessage, type UpstreamError } from './dialect/error-print.ts'
export { AGENT_KEY, byHeaderName, headerText, isCredentialName, projectHeader } from './dialect/header-names.ts'
export { KeyCursor } from './dialect/json-keys.ts'
export { mediaType } from './dialect/media-type.ts'
export {
  addBlock,
  type Content,
  callPart,
  callsAmong,
  contentOf,
  genericCall,
  noContent,
  resultPart,
  saidParts,
  saysFailed,
  servedPart,
  strangeParts,
} from './dialect/parts.ts'
export {
  ArgumentText,
  addCalls,
  type Draft,
  parsedEvent,
  providerError,
  type ReplyReader,
  replyMeter,
} from './dialect/reply-meter.ts'
export { type CountPaths, type Counts, noCounts, noteCounts, noUsage, saysNothing, totalled } from './dialect/usage.ts'
export { budgetTable } from './display/budget-table.ts'
export { showsColours } from './display/colours.ts'
export { columnLines, terminalWidth, verdictSigns, writesUnicode } from './display/columns.ts'
export { hint } from './display/hint.ts'
export {
  amountMark,
  choice,
  costHead,
  costUnit,
  cursorLinks,
  decisionMark,
  faultList,
  instantMark,
  newsMark,
  pageUrl,
  priceMark,
  spellMark,
} from './display/marks.ts'
export { outputOf } from './display/output.ts'
export { type ListedSession, sessionLines, shownField, shownState } from './display/session-table.ts'
export { type Code, catalogue } from './errors/catalogue.ts'
export { errorEntry, isKnownCode } from './errors/entry.ts'
export { errorIn } from './errors/error-answer.ts'
export { knownFilters } from './errors/known.ts'
export { schemaFault } from './errors/schema-fault.ts'
export { throwerOf } from './errors/thrower.ts'
export { thrownStack, thrownText } from './errors/thrown-text.ts'
export { onUncaught } from './errors/uncaught.ts'
export { wayOut } from './errors/way-out.ts'
export { type ErrorBody, errorBody, GuardError, inFile, isFault, refusals, statusOf, unwritable } from './errors.ts'
export { type Leaving, leavingOf } from './export/order.ts'
export { artifactRecord, eventRecord, type RunSummary, runRecord, runSummary, spanRecord } from './export/records.ts'
export { streamTrace, type TraceReader, type TraceRecord, writeTrace } from './export/write.ts'
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
export { cancelledKey } from './frame/cancel.ts'
export { keyOfId, roundedKey } from './frame/ids.ts'
export { LineWriter } from './frame/line-writer.ts'
export { type LineEnds, LineReader } from './frame/lines.ts'
export { foldName } from './frame/look-alike.ts'
export { type Objection, objectionsTo, type Pointed, pointed, pointedTexts, TOOK_TOO_LONG } from './frame/pointed.ts'
export { errorFrame, readFrame, resultFrame } from './frame.ts'
export { Gateway, type GatewayOptions } from './gateway.ts'
export type { Hooks } from './hooks.ts'
export { type Hole, Html, html, joined, raw, visible } from './html.ts'
export { faultAt, type JsonElement, jsonElements, placeInElement } from './import/elements.ts'
export { ImportFault, inside, lineAndPointer, type Place as ImportPlace } from './import/fault.ts'
export { idField, needField } from './import/fields.ts'
export { ImportFile, importFile } from './import/file.ts'
export { textLines } from './import/lines.ts'
export { RunOutline } from './import/outline.ts'
export { type FoundRecord, outlined, readingOf } from './import/reading.ts'
export { artifactDraft, elementsOf, eventDraft, needSchema, recordAt, runDraft, spanDraft } from './import/records.ts'
export { parseImport } from './import/text.ts'
export { APPROVER_FLAG, APPROVER_HEADER, approver, approverField, approverHeaders } from './keys/approver.ts'
export { argumentKey } from './keys/argument-key.ts'
export { absentText, type ChildEnv, childEnv, givenNames, type LeftToChild, withheldText } from './keys/child-env.ts'
export { identities } from './keys/identities.ts'
export { logins } from './keys/logins.ts'
export { holdsOwnKey } from './keys/own-keys.ts'
export { type ConnectionFault, connectionFault } from './network/connection-fault.ts'
export { firstHop, type Hop, isTunnelled, openSocket, requestPrefix, secureOptions } from './network/first-hop.ts'
export { isThisMachine, type NoProxy, noProxy } from './network/no-proxy.ts'
export { proxyAddress, proxyPassword } from './network/proxy-address.ts'
export { directTo, type ProxyChoice, type ProxySettings, proxyChoice } from './network/proxy-choice.ts'
export { ProxyFault, unreachableProxy } from './network/proxy-fault.ts'
export { trustOf } from './network/trust.ts'
export { openTunnel, type TunnelRequest } from './network/tunnel.ts'
export { behindProxy } from './network/whole-url.ts'
export { isContentEvent } from './otlp/content/content-names.ts'
export { MetadataOnly } from './otlp/content/metadata-only.ts'
export { readOtlpFile } from './otlp/file.ts'
export { fitted } from './otlp/fit.ts'
export { fromOtlp, type OtlpOptions, type OtlpReading, type OtlpRun } from './otlp/map.ts'
export { guardNames, semconv } from './otlp/names.ts'
export { otlpArtifact, otlpEvent, otlpResource, otlpSpan, otlpSpanId, otlpTraceId } from './otlp/write.ts'
export { readInto } from './pipeline/read-into.ts'
export { headerOf, isEventStream, type Relayed, relay } from './pipeline/relay.ts'
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
export {
  type CallRecord,
  newTurnsOf,
  type Recording,
  recordedCalls,
  rowOf,
  type SessionEvent,
  sessionEvent,
} from './record.ts'
export { Registry } from './registry.ts'
export { free } from './request-body/free.ts'
export { checkEncoding, inflated, isPlain, withInflated } from './request-body/inflate.ts'
export { memberSpan, memberValue, type Span } from './request-body/member.ts'
export { acceptNoBody } from './request-body/no-body.ts'
export { OwnedBodies } from './request-body/owned-bodies.ts'
export { type ReadRequest, RequestReader, readRequest } from './request-body.ts'
export { bringsUserMessage, isFreshStart, isPassedOver, isSameSubagent, repeatsOfOne } from './session/repeats.ts'
export { isSessionName, namedSession, onlySession, sessionById } from './session/session-id.ts'
export { type Caller, newSessionRow, type Session, type SessionBeginning, type SessionRow } from './session.ts'
export type { Cost, Reading, RepliedTool, Settled, Usage } from './settled.ts'
export { table } from './store/table.ts'
export { createStore, type StoreOptions } from './store.ts'
export { type Place, place, tipsOf } from './threads.ts'
export { argumentText, calledTool, callKey } from './tool-calls.ts'
export { isNewChange } from './tools/changed.ts'
export { changes, effectOfName } from './tools/effect.ts'
export { toolMatcher } from './tools/matcher.ts'
export { isProse, withoutProse } from './tools/prose.ts'
export { argumentHash, canonicalJson } from './trace/argument-hash.ts'
export { allInput, callRecords, decisionAttributes, decisionEventId, toolSpanId, traceOf } from './trace/call-trace.ts'
export { givesWay, joinsProject, type ProjectSource } from './trace/project.ts'
export { autoRoot, wideRoot } from './trace/root.ts'
export type { ToolRecord, ToolRecording } from './trace/tool-record.ts'
export { toolDecision, toolEventId, toolRecords, toolTimes } from './trace/tool-trace.ts'
export { newSpanId, newTraceId, readTraceparent } from './trace/trace-ids.ts'
export { arrange } from './trace/tree.ts'
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
  type Span as TraceSpan,
  type SpanKind,
  spanKinds,
  type Trace,
  type TraceEvent,
  type TreeNode,
  type TreeSpan,
} from './trace.ts'
export type { Chain, Conversation, LooseResult, ToolCall, ToolEffect, Turn, TurnContent } from './turns.ts'
export { type UpstreamRoute, upstreamAddress } from './upstream-address.ts'
