import { GuardError } from 'guard-gateway/core'
import { lineAndColumn, readJson, syntaxErrorAt, tooDeepAt } from '#lib/json'

/**
 * Parses JSON of an import file, integers exact; `line` is the line of the file on which the text starts.
 * Throws TOO_DEEP or INVALID_JSON with line and column.
 */
export const parseImport = (text: string, maxDepth: number, line = 1): unknown => {
  const bytes = Buffer.from(text)
  const deep = tooDeepAt(bytes, maxDepth)
  if (deep !== -1) {
    const at = placeFrom(text, bytes.toString('utf8', 0, deep).length, line)
    throw new GuardError(
      'TOO_DEEP',
      `Line ${at.line}, column ${at.column}: the text nests deeper than ${maxDepth} levels.`,
      at,
    )
  }
  try {
    return readJson(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const fault = syntaxErrorAt(text) ?? { at: 0, expected: 'JSON' }
    const at = placeFrom(text, fault.at, line)
    const there = fault.at >= text.length ? 'the text ends' : 'there is something else'
    throw new GuardError(
      'INVALID_JSON',
      `Line ${at.line}, column ${at.column}: expected ${fault.expected}, but ${there}.`,
      at,
    )
  }
}

const placeFrom = (text: string, at: number, line: number): { line: number; column: number } => {
  const place = lineAndColumn(text, at)
  return { line: place.line + line - 1, column: place.column }
}
