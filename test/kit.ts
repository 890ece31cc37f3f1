// What tests of a plugin or of an agent behind the gateway need, public as guard-gateway/test.
// The conformance suites draw random values with fast-check: whoever imports this installs it.

export { foundation } from 'guard-gateway/presets/foundation'
export { apiStyleConforms, type StyleSamples } from './conformance/api-style.ts'
export { detectorConforms } from './conformance/detector.ts'
export { exportFormatConforms } from './conformance/export-format.ts'
export { type CheckCase, mcpCheckConforms } from './conformance/mcp-check.ts'
export { mcpResultCheckConforms, type ResultCase } from './conformance/mcp-result-check.ts'
export { mcpTransportConforms, type TransportSubject } from './conformance/mcp-transport.ts'
export { cutAt, meterConforms, type ReplySample } from './conformance/meter.ts'
export {
  aNotification,
  connected,
  type NotifierSubject,
  notifierConforms,
  type TestReceiver,
} from './conformance/notifier.ts'
export {
  type ConformanceItem,
  conformanceTables,
  item,
  openPlain,
  type StorageConformanceOptions,
  storageConforms,
} from './conformance/storage.ts'
export { upstreamClientConforms } from './conformance/upstream-client.ts'
export { upstreamSocketConforms } from './conformance/upstream-socket.ts'
export { type ChildGateway, startChildGateway } from './kit/child-gateway.ts'
export { type FakeClock, fakeClock } from './kit/clock.ts'
export {
  beside,
  type Called,
  called,
  conversation,
  type Item,
  keyOf,
  result,
  says,
  step,
  system,
  turn,
  user,
} from './kit/conversation.ts'
export { type Dialect, dialectOf, dialects, looping, productive, type Step } from './kit/dialogue.ts'
export { call, evidence, type Given, outcomes, rule, type Said } from './kit/evidence.ts'
export { exported, type ReadRun, readBy } from './kit/exchange.ts'
export { type Answer, type Started, type StartOptions, startGateway } from './kit/gateway.ts'
export { type IngestRequest, type IngestScript, IngestServer, ingestServer } from './kit/ingest.ts'
export { type FakeIo, fakeIo } from './kit/io.ts'
export { FakeProvider, fakeProvider, type ReceivedRequest, type Script } from './kit/provider.ts'
export { type RawAnswer, rawHttp, untilClosed } from './kit/raw-http.ts'
export { type RawAnswerer, RawServer, rawServer } from './kit/raw-server.ts'
export { chatReply, messagesReply, replyFor, responsesReply, type WholeReply } from './kit/replies.ts'
export {
  decisionOf,
  type EventView,
  errorOf,
  Service,
  type SessionView,
  startService,
} from './kit/service.ts'
export {
  aCall,
  aDecision,
  aMatch,
  aReading,
  aRow,
  aSession,
  aSessionRow,
  NOON,
  settled,
} from './kit/settled.ts'
export { type Settlements, settlements } from './kit/settlements.ts'
export { anArtifact, anEvent, aRun, aSpan, aTrace, START, traces } from './kit/traces.ts'
