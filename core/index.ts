export { APPROVER_FLAG, APPROVER_HEADER, type Approver, approver, approverField } from './approver.ts'
export { argumentHash, canonicalJson } from './argument-hash.ts'
export type { Call, Conversation, Identity, Mode, Outcome, ToolCall, Turn } from './call.ts'
export {
  allInput,
  type CallTrace,
  type Cost,
  callRecords,
  decisionAttributes,
  decisionEventId,
  type RepliedTool,
  toolSpanId,
  traceOf,
} from './call-trace.ts'
export { type Code, catalogue } from './catalogue.ts'
export { type Clock, instantOf, systemClock, timeOf } from './clock.ts'
export { columnLines, verdictSigns, writesUnicode } from './columns.ts'
export type * from './contracts/index.ts'
export { type Decision, type Finding, type Match, type ReplyWatch, type Row, undecided } from './decision.ts'
export {
  callOf,
  namesTool,
  periodOf,
  reachOf,
  requestPlaces,
  sameCalls,
  sameResults,
  turnPlaces,
  turnsSinceUser,
} from './detection.ts'
export { commonEnvelope, conversationId, errorFields, tokenLimit } from './envelope.ts'
export { errorIn } from './error-answer.ts'
export { errorPrint, maskedMessage, type UpstreamError } from './error-print.ts'
export { type ErrorBody, errorBody, GuardError, inFile, statusOf, unwritable } from './errors.ts'
export { type Leaving, leavingOf } from './export/order.ts'
export { artifactRecord, eventRecord, type RunSummary, runRecord, runSummary, spanRecord } from './export/records.ts'
export { streamTrace, type TraceReader, type TraceRecord, writeTrace } from './export/write.ts'
export { bytesText, costText, countText, durationText, timeText } from './figures.ts'
export type { Fragment, FragmentArtifact, FragmentEvent, FragmentRun, FragmentWarning, Kept } from './fragment.ts'
export { cancelledKey } from './frame/cancel.ts'
export {
  applyEdits,
  type Edit,
  memberIn,
  pointerKeys,
  removalsFrom,
  removeAt,
  removeMembers,
  setAt,
  setMember,
  sourceOf,
  stringIn,
  valueAt,
} from './frame/edit.ts'
export { EventReader, messageEvent, type RawEvent, withData } from './frame/events.ts'
export { keyOfId, roundedKey } from './frame/ids.ts'
export { LineWriter } from './frame/line-writer.ts'
export { type LineEnds, LineReader } from './frame/lines.ts'
export { foldName } from './frame/look-alike.ts'
export { isScanFault, type JsonScan, type ScanFault, type ScanOptions, scanJson } from './frame/scan.ts'
export type { JsonMember, JsonValue } from './frame/token.ts'
export { errorFrame, type Frame, type FrameFault, readFrame, resultFrame } from './frame.ts'
export { Gateway, type GatewayOptions } from './gateway.ts'
export { glob } from './glob.ts'
export { AGENT_KEY, byHeaderName, isCredentialName, projectHeader } from './header-names.ts'
export type { Hooks } from './hooks.ts'
export { type Hole, Html, html, joined, raw, visible } from './html.ts'
export { identities } from './identities.ts'
export { derivedId, newId, newKey, sha256 } from './ids.ts'
export { faultAt, type JsonElement, jsonElements, placeInElement } from './import/elements.ts'
export { ImportFault, inside, lineAndPointer, type Place as ImportPlace } from './import/fault.ts'
export { idField, needField } from './import/fields.ts'
export { ImportFile, importFile } from './import/file.ts'
export { textLines } from './import/lines.ts'
export { RunOutline } from './import/outline.ts'
export { type FoundRecord, outlined, readingOf } from './import/reading.ts'
export { artifactDraft, elementsOf, eventDraft, needSchema, recordAt, runDraft, spanDraft } from './import/records.ts'
export { parseImport } from './import/text.ts'
export { checkEncoding, inflated, isPlain, withInflated } from './inflate.ts'
export { inexactNumber, type JsonPath, memberNames, placeOf, pointerOf } from './json/find.ts'
export { readJson, readJsonStrict, writeJson } from './json.ts'
export { KeyCursor } from './json-keys.ts'
export { type AgentKey, Keys } from './keys.ts'
export { logins } from './logins.ts'
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
} from './marks.ts'
export { memberSpan, memberValue, type Span } from './member.ts'
export { acceptNoBody } from './no-body.ts'
export { readOtlpFile } from './otlp/file.ts'
export { fromOtlp, type OtlpOptions, type OtlpReading, type OtlpRun } from './otlp/map.ts'
export { guardNames, isContentEvent, isContentName, semconv } from './otlp/names.ts'
export { otlpArtifact, otlpEvent, otlpResource, otlpSpan, otlpSpanId, otlpTraceId } from './otlp/write.ts'
export { holdsOwnKey } from './own-keys.ts'
export { mapPaced, Pace, paced } from './pace.ts'
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
  strangeParts,
} from './parts.ts'
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
export { objectionsTo, type Pointed, type PointedTexts, pointed, pointedTexts } from './pointed.ts'
export { readInto } from './read-into.ts'
export { RecentHashes } from './recent-hashes.ts'
export { type CallRecord, type Recording, recordedCalls, rowOf, type SessionEvent, sessionEvent } from './record.ts'
export type { OnStorageFailure } from './recording.ts'
export type { Finder, Redactor } from './redact.ts'
export { Registry } from './registry.ts'
export { headerOf, isEventStream, type Relayed, relay } from './relay.ts'
export {
  ArgumentText,
  addCalls,
  type Draft,
  parsedEvent,
  providerError,
  type ReplyReader,
  replyMeter,
} from './reply-meter.ts'
export { type ReadRequest, readRequest } from './request-body.ts'
export { schemaFault } from './schema-fault.ts'
export type { Secrets } from './secrets.ts'
export { newSessionRow, type Session, type SessionBeginning, type SessionRow } from './session.ts'
export { sessionById } from './session-id.ts'
export { type ListedSession, sessionLines } from './session-table.ts'
export type { Attempt, Reading, Settled, Usage } from './settled.ts'
export { firstOf, isShape, listOf, type Shape, shapeOf, wordOf } from './shape.ts'
export { EventSplitter, type OnData } from './sse.ts'
export type { Known, RepliedCall } from './stateful.ts'
export { datedCursor, resumed } from './store/dated-cursor.ts'
export { pages } from './store/pages.ts'
export { Queues } from './store/queue.ts'
export { createStore, type StoreOptions, table } from './store.ts'
export {
  addTokens,
  cutBeforeRedaction,
  cutText,
  dropUnfinishedWord,
  queryTokens,
  sanitise,
  terminalLine,
  terminalText,
} from './text.ts'
export { type Place, place, tipsOf } from './threads.ts'
export { throwerOf } from './thrower.ts'
export { argumentText, callKey } from './tool-calls.ts'
export type { ToolRecord, ToolRecording } from './tool-record.ts'
export { toolDecision, toolEventId, toolRecords, toolTimes } from './tool-trace.ts'
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
export { newSpanId, newTraceId, readTraceparent } from './trace-ids.ts'
export { arrange } from './tree.ts'
export { type CountPaths, type Counts, noCounts, noteCounts, noUsage, saysNothing, totalled } from './usage.ts'
export { readYamlApart } from './yaml/apart.ts'
export { readYaml, type Yaml, type YamlModule, type YamlPlace } from './yaml.ts'
