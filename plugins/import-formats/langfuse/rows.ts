import type { ImportSource } from 'guard-gateway/lib/export-format'
import type { JsonObject } from 'guard-gateway/lib/json'
import {
  arrayElements,
  elementsOf,
  headOf,
  type ImportLocation,
  jsonElements,
  jsonTexts,
  parseImport,
  recordAt,
} from 'guard-gateway/lib/trace-file'

/** An observation and where it is; `trace`: what the file says of its trace beside it. */
export interface ObservationRow {
  readonly record: JsonObject
  readonly place: ImportLocation
  readonly line: number
  readonly trace: JsonObject
}

const MAX_DEPTH = 128
const NO_TRACE: JsonObject = {}

/** The observations of a file: of a list, of one trace, of an answer of the API, or one a line. */
export function* observationRows(file: ImportSource): Generator<ObservationRow> {
  if (/^\s*\[/.test(headOf(file))) {
    for (const { value, path, line } of arrayElements(file, MAX_DEPTH)) yield* rowsIn(value, { path }, line)
  } else if (file.members.has('observations')) yield* ofTrace(file)
  else if (file.members.has('data')) {
    for (const { value, path, line } of jsonElements(file, { data: {} }, MAX_DEPTH, ({ length }) => length === 2))
      yield* rowsIn(value, { path }, line)
  } else
    for (const { text, line } of jsonTexts(file)) yield* rowsIn(parseImport(text, MAX_DEPTH, line), { path: [] }, line)
}

/** An observation, or those of a trace. */
function* rowsIn(value: unknown, place: ImportLocation, line: number): Generator<ObservationRow> {
  const record = recordAt(value, place)
  if (!Array.isArray(record.observations)) yield { record, place, line, trace: NO_TRACE }
  // lists of traces name their observations by id alone
  else if (record.observations.every((one) => typeof one !== 'string'))
    for (const one of elementsOf(record, 'observations', place)) yield { ...one, line, trace: record }
}

/** The observations of one trace; what is said of it may come before or after them, so the file is read twice. */
function* ofTrace(file: ImportSource): Generator<ObservationRow> {
  const lists = { observations: {} }
  let trace = NO_TRACE
  for (const { value } of jsonElements(file, lists, MAX_DEPTH, ({ length }) => length === 0)) {
    const whole = recordAt(value, { path: [] })
    elementsOf(whole, 'observations', { path: [] }).next()
    trace = whole.trace === undefined ? whole : recordAt(whole.trace, { path: ['trace'] })
  }
  for (const { value, path, line } of jsonElements(file, lists, MAX_DEPTH, ({ length }) => length === 2))
    yield { record: recordAt(value, { path }), place: { path }, line, trace }
}
