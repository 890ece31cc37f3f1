import { createHash } from 'node:crypto'
import { GuardError } from 'guard-gateway/core'
import type { ImportReading, ImportWarning } from '#lib/export-format'
import { type JsonObject, type JsonPath, pointerOf, writeJson } from '#lib/json'
import { ImportFile } from '#lib/trace-file'
import { readOtlpFile } from './file.ts'

/** A span of another format in the shape of OTLP/JSON, and where its file has it. */
export interface ConvertedSpan {
  /** The same object for spans of one resource that follow each other. */
  readonly resource: JsonObject
  readonly scope: JsonObject
  readonly span: JsonObject
  readonly line: number
  readonly path: JsonPath
}

const PIECE_CHARS = 32_768

/**
 * Reads a file of another format as the OTLP/JSON file that its spans make, so that one table of senders serves all.
 * `spans` converts the file anew with each call; what it throws is thrown on. Faults of a span get its own line and path.
 * A span that comes twice, word for word, counts once.
 */
export const readConvertedFile = (spans: () => Iterable<ConvertedSpan>): ImportReading => {
  const conversion = new Conversion(spans)
  try {
    const { runs, warnings, records } = readOtlpFile(conversion.file)
    return {
      runs,
      warnings: [...warnings.map((warning) => conversion.relocatedWarning(warning)), ...conversion.warnings()],
      records,
    }
  } catch (error) {
    throw conversion.relocated(error)
  }
}

class Conversion {
  /** Each of its spans is on a line of its own. */
  readonly file = new ImportFile(() => this.#bytes())
  readonly #spans: () => Iterable<ConvertedSpan>
  #thrown: unknown
  #repeats = 0

  constructor(spans: () => Iterable<ConvertedSpan>) {
    this.#spans = spans
  }

  warnings(): readonly ImportWarning[] {
    if (this.#repeats === 0) return []
    const message = `${this.#repeats} spans come more than once, word for word; each counts once.`
    return [{ code: 'duplicate_dropped', message }]
  }

  relocatedWarning(warning: ImportWarning): ImportWarning {
    const place = warning.line === undefined ? undefined : this.#placeOf(warning.line)
    const { line: _line, path: _path, ...rest } = warning
    return place === undefined ? rest : { ...rest, ...place }
  }

  /** The error with the place that the file has. */
  relocated(error: unknown): unknown {
    if (error === this.#thrown || !(error instanceof GuardError) || error.place.line === undefined) return error
    const { line, path } = this.#placeOf(error.place.line) ?? { line: 1, path: '' }
    const what = error.message.replace(/^Line \d+(?:, \S*)?: /, '')
    return new GuardError(error.entry, `Line ${line}${path === '' ? '' : `, ${path}`}: ${what}`, {
      line,
      path,
      cause: error,
    })
  }

  #placeOf(target: number): { readonly line: number; readonly path: string } | undefined {
    for (const { origin, line } of this.#lines())
      if (origin !== undefined && line === target) return { line: origin.line, path: pointerOf(origin.path) }
    return undefined
  }

  *#bytes(): Generator<Uint8Array> {
    let piece = ''
    for (const { text } of this.#lines()) {
      piece += text
      if (piece.length < PIECE_CHARS) continue
      yield Buffer.from(piece)
      piece = ''
    }
    yield Buffer.from(piece)
  }

  *#lines(): Generator<{ readonly text: string; readonly line: number; readonly origin?: ConvertedSpan }> {
    let line = 1
    let resource: JsonObject | undefined
    let scope: JsonObject | undefined
    yield { text: '{"resourceSpans":[\n', line: line++ }
    for (const one of this.#distinct()) {
      const isNew = one.resource !== resource || one.scope !== scope
      if (isNew) {
        const before = resource === undefined ? '' : ']}]},'
        resource = one.resource
        scope = one.scope
        const text = `${before}{"resource":${writeJson(resource)},"scopeSpans":[{"scope":${writeJson(scope)},"spans":[\n`
        yield { text, line: line++ }
      }
      yield { text: `${isNew ? '' : ','}${writeJson(one.span)}\n`, line: line++, origin: one }
    }
    yield { text: resource === undefined ? ']}\n' : ']}]}]}\n', line }
  }

  *#distinct(): Generator<ConvertedSpan> {
    const known = new Map<string, string>()
    this.#repeats = 0
    for (const one of this.#converted()) {
      const { traceId, spanId } = one.span
      const key = `${String(traceId)} ${String(spanId)}`
      const hash = createHash('sha256').update(writeJson(one.span)).digest('base64').slice(0, 22)
      if (known.get(key) === hash) this.#repeats++
      else {
        known.set(key, hash)
        yield one
      }
    }
  }

  *#converted(): Generator<ConvertedSpan> {
    try {
      yield* this.#spans()
    } catch (error) {
      this.#thrown = error
      throw error
    }
  }
}
