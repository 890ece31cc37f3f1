/** What is under a keyword: one schema, a list of them, a map of them, or something else. */
export type Holds = 'schema' | 'schemas' | 'map' | 'value'

const holding = (holds: Holds, names: string): readonly (readonly [string, Holds])[] =>
  names.split(' ').map((name) => [name, holds] as const)

/** The keywords of JSON Schema 2020-12, and what is under each. */
export const KEYWORDS: ReadonlyMap<string, Holds> = new Map([
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
