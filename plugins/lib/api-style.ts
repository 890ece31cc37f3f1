export { commonEnvelope, conversationId, errorFields, tokenLimit } from './api-style/envelope.ts'
export { googleError } from './api-style/google-error.ts'
export { KeyCursor } from './api-style/json-keys.ts'
export {
  addBlock,
  type Content,
  callPart,
  callsAmong,
  contentOf,
  contentParts,
  genericCall,
  isErrorResult,
  messageParts,
  noContent,
  providerResultPart,
  resultPart,
  unknownParts,
} from './api-style/parts.ts'
export { type PathPattern, pathPattern, type RequestTarget, targetOf } from './api-style/path-pattern.ts'
export { collectionAt, distinct, isIdSegment, NONE, objectsIn, objectsInPath } from './api-style/provider-objects.ts'
export {
  ArgumentText,
  addCalls,
  addWholeCalls,
  argumentBytes,
  type Draft,
  NO_DETAIL,
  noteError,
  noteIdentity,
  parsedEvent,
  providerError,
  type ReplyReader,
  replyMeter,
} from './api-style/reply-meter.ts'
export { eventText, listenBy, type Speech } from './api-style/speech.ts'
export { StreamSplitter } from './api-style/stream-splitter.ts'
export {
  type Counts,
  isUsageEmpty,
  noCounts,
  noteCounts,
  usageOf,
} from './api-style/usage.ts'
