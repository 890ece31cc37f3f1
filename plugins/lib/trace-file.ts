export { traceFileErrors } from './trace-file/error-codes.ts'
export { errorAt, type JsonElement, jsonElements, placeInElement } from './trace-file/read/elements.ts'
export { ImportFault, inside, lineAndPointer, type Place as ImportPlace, type Place } from './trace-file/read/fault.ts'
export { idField, needField, nsField, textField } from './trace-file/read/fields.ts'
export { ImportFile, importFile } from './trace-file/read/file.ts'
export { textLines } from './trace-file/read/lines.ts'
export { RunOutline } from './trace-file/read/outline.ts'
export { type FoundRecord, outlined, readingOf } from './trace-file/read/reading.ts'
export {
  artifactDraft,
  elementsOf,
  eventDraft,
  needSchema,
  type Placed,
  recordAt,
  runDraft,
  spanDraft,
} from './trace-file/read/records.ts'
export { parseImport } from './trace-file/read/text.ts'
export { type Leaving, leavingOf } from './trace-file/write/order.ts'
export {
  artifactRecord,
  eventRecord,
  type RunSummary,
  runRecord,
  runSummary,
  spanRecord,
} from './trace-file/write/records.ts'
export { streamTrace, type TraceReader, type TraceRecord, writeTrace } from './trace-file/write/write.ts'
