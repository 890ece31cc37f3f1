import { type PolicyFault, type PolicyPath, suggestion } from './fault.ts'

/** What stands under a keyword: one schema, a list of them, a map of them, or something else. */
type Holds = 'schema' | 'schemas' | 'map' | 'value'

const holding = (holds: Holds, names: string): readonly (readonly [string, Holds])[] =>
  names.split(' ').map((name) => [name, holds] as const)

/** The keywords of JSON Schema 2020-12. */
const KEYWORDS: ReadonlyMap<string, Holds> = new Map([
  ...holding(
    'schema',
    'items contains additionalProperties propertyNames unevaluatedItems unevaluatedProperties not if then else contentSchema',
  ),
  ...holding('schemas', 'allOf anyOf oneOf prefixItems'),
  ...holding('map', 'properties patternProperties dependentSchemas $defs definitions'),
  ...holding(
    'value',
    `$schema $id $ref $anchor $dynamicRef $dynamicAnchor $vocabulary $comment type enum const multipleOf maximum exclusiveMaximum minimum
    exclusiveMinimum maxLength minLength pattern maxItems minItems uniqueItems maxContains minContains maxProperties minProperties required
    dependentRequired format contentEncoding contentMediaType title description default deprecated readOnly writeOnly examples`.replace(
      /\s+/g,
      ' ',
    ),
  ),
])

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
