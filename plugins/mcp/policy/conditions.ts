import { KEYWORDS } from '../schemas/vocabulary.ts'
import { type PolicyFault, type PolicyPath, suggestion } from './fault.ts'

/** Keywords of a condition that no validator knows: it would pass over them, and the condition would hold for more than it says. */
export const conditionFaults = (schema: unknown, path: PolicyPath): readonly PolicyFault[] =>
  typeof schema !== 'object' || schema === null
    ? []
    : Object.entries(schema).flatMap(([keyword, part]) => keywordFaults(keyword, part, path))

const keywordFaults = (keyword: string, part: unknown, path: PolicyPath): readonly PolicyFault[] => {
  const holds = KEYWORDS.get(keyword)
  const at = [...path, keyword]
  if (holds === undefined) {
    const near = suggestion(keyword, [...KEYWORDS.keys()])
    return [{ path, at, message: `unknown keyword "${keyword}" of JSON Schema${near}` }]
  }
  if (holds === 'value' || typeof part !== 'object' || part === null) return []
  if (holds === 'schema') return conditionFaults(part, at)
  const parts: readonly (readonly [string | number, unknown])[] = Array.isArray(part)
    ? [...part.entries()]
    : Object.entries(part)
  return parts.flatMap(([name, inner]) => conditionFaults(inner, [...at, name]))
}
