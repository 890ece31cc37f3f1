export { readJsonChunked } from './json/chunked.ts'
export {
  applyEdits,
  type Edit,
  memberIn,
  removalsFrom,
  removeAt,
  removeMembers,
  setAt,
  setMember,
  sourceOf,
  stringIn,
  valueAt,
} from './json/edit.ts'
export { inexactNumber, type JsonPath, lineAndColumnAt, pointerOf } from './json/locate.ts'
export { LongStringCutter } from './json/long-strings.ts'
export { closingQuote, JsonMarks, mark } from './json/marks.ts'
export { firstOf, isJsonObject, type JsonObject, jsonObjectOf, listOf, nonEmptyText } from './json/object.ts'
export { tooDeepAt } from './json/outline.ts'
export { parseJson } from './json/parse.ts'
export { keyOfPart, pointerKeys, pointerPart } from './json/pointer.ts'
export type { StrictJson } from './json/reader.ts'
export { readJson, readJsonStrict, writeJson } from './json/reader.ts'
export { hasRoundedInteger } from './json/rounded.ts'
export { isScanFault, type JsonScan, type ScanFault, type ScanOptions, scanJson } from './json/scan.ts'
export { Type } from './json/schema.ts'
export { lineAndColumn, syntaxErrorAt } from './json/syntax.ts'
export type { JsonMember, JsonValue } from './json/value.ts'
