export { traceFileErrors } from './trace-file/error-codes.ts'
export { type ImportUnit, type ImportUnits, importUnits } from './trace-file/import-units.ts'
export { arrayElements } from './trace-file/read/array.ts'
export { errorAt, type JsonElement, jsonElements, locationInElement } from './trace-file/read/elements.ts'
export { idField, needField, nsField, textField } from './trace-file/read/fields.ts'
export { ImportFile, importFile } from './trace-file/read/file.ts'
export { headOf } from './trace-file/read/head.ts'
export {
  ImportFault,
  type ImportLocation,
  lineAndPointer,
  memberLocation,
} from './trace-file/read/import-fault.ts'
export { byteLines, textLines } from './trace-file/read/lines.ts'
export { RunOutline } from './trace-file/read/outline.ts'
export { addToOutlines, type FoundRecord, importReading } from './trace-file/read/reading.ts'
export {
  artifactDraft,
  elementsOf,
  eventDraft,
  type LocatedRecord,
  needSchema,
  recordAt,
  runDraft,
  spanDraft,
} from './trace-file/read/records.ts'
export { parseImport } from './trace-file/read/text.ts'
export { hasSeveralValues, type JsonText, jsonTexts } from './trace-file/read/values.ts'
export { type OrderedRecord, orderedRecords } from './trace-file/write/record-order.ts'
export {
  artifactRecord,
  eventRecord,
  type RunSummary,
  runRecord,
  runSummary,
  spanRecord,
} from './trace-file/write/records.ts'
export { streamTrace, type TraceReader, type TraceRecord, writeTrace } from './trace-file/write/write.ts'
