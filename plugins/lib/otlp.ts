export { isContentEvent } from './otlp/content/content-names.ts'
export { MetadataOnly } from './otlp/content/metadata-only.ts'
export { type ConvertedSpan, readConvertedFile } from './otlp/converted-file.ts'
export { readOtlpFile } from './otlp/file.ts'
export { fitAttributes } from './otlp/fit-attributes.ts'
export { hexIdOf, nsOfMicros } from './otlp/foreign-fields.ts'
export { fromOtlp, type OtlpOptions, type OtlpReading, type OtlpRun } from './otlp/map.ts'
export { guardNames, semconv } from './otlp/names.ts'
export {
  MAIN,
  type Recorded,
  type SessionCall,
  type SessionEntry,
  type SessionHead,
  type SessionInput,
  type SessionReply,
  type SessionResult,
  type SessionRewind,
  type SessionSpawn,
} from './otlp/session-file/entries.ts'
export { objectOf, objectsOf, textOf, timeOf, tokensOf } from './otlp/session-file/fields.ts'
export { located, type OnCut, type SessionLine, sessionLines } from './otlp/session-file/lines.ts'
export { readSessionFile, type SessionReader } from './otlp/session-file/read.ts'
export { type ConversationStyle, joinedMessages, sessionRequests } from './otlp/session-file/requests.ts'
export { traceIdOf } from './otlp/session-file/spans.ts'
export { otlpAttributes, otlpSpanJson, type SpanParts } from './otlp/span-json.ts'
export { otlpArtifact, otlpEvent, otlpResource, otlpSpan } from './otlp/write.ts'
