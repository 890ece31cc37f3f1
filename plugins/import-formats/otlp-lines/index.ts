import { type ImportSource, importFormat } from 'guard-gateway/lib/export-format'
import {
  elementsOf,
  errorAt,
  hasSeveralValues,
  type ImportLocation,
  type JsonText,
  jsonTexts,
  lineAndPointer,
  parseImport,
  recordAt,
} from 'guard-gateway/lib/trace-file'
import { type ConvertedSpan, readConvertedFile } from '#lib/otlp'

/** OTLP/JSON requests one after another, as the file exporter of the OpenTelemetry Collector writes them; logs and metrics among them are passed over. */
export const otlpLines = importFormat({
  id: 'otlp_lines',
  title: 'OTLP lines',
  module: import.meta.url,
  accepts: (file) => signals.some((name) => file.members.has(name)) && hasSeveralValues(file),
  read: (file) => readConvertedFile(() => spansOf(file)),
})

const signals = ['resourceSpans', 'resourceLogs', 'resourceMetrics']

/** One level of an attribute is up to four in OTLP; attributes nest 32 deep. */
const MAX_DEPTH = 160

function* spansOf(file: ImportSource): Generator<ConvertedSpan> {
  for (const part of jsonTexts(file)) {
    try {
      yield* spansIn(part)
    } catch (error) {
      throw errorAt(error, (place) => placeIn(part, place))
    }
  }
}

const placeIn = ({ text, line }: JsonText, place: ImportLocation) => {
  const within = lineAndPointer(text, place)
  return { ...within, line: line + within.line - 1 }
}

function* spansIn(part: JsonText): Generator<ConvertedSpan> {
  const whole: ImportLocation = { path: [] }
  const request = recordAt(parseImport(part.text, MAX_DEPTH, part.line), whole)
  for (const group of elementsOf(request, 'resourceSpans', whole)) {
    const resource = recordAt(group.record.resource ?? {}, group.place)
    for (const scoped of elementsOf(group.record, 'scopeSpans', group.place)) {
      const scope = recordAt(scoped.record.scope ?? {}, scoped.place)
      for (const { record: span, place } of elementsOf(scoped.record, 'spans', scoped.place))
        yield {
          resource,
          scope,
          span,
          path: place.path,
          // counted only where a fault is told
          get line() {
            return placeIn(part, place).line
          },
        }
    }
  }
}
