const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])

/** Keywords of JSON Schema and OpenAPI that say what a value must be like, not what it is. */
const KEYWORDS = new Set(
  'type format title description $ref $id $schema $comment $anchor minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minProperties maxProperties required properties patternProperties additionalProperties propertyNames items prefixItems contains anyOf oneOf allOf not if then else dependentRequired dependentSchemas unevaluatedProperties nullable deprecated readOnly writeOnly contentEncoding contentMediaType discriminator'.split(
    ' ',
  ),
)

const isType = (type: unknown): boolean =>
  Array.isArray(type) ? type.length > 0 && type.every(isType) : typeof type === 'string' && TYPES.has(type)

/** The object describes a value: a schema of a tool's parameter stands here rather than the parameter. */
export const isSchema = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const { type, $ref, anyOf, oneOf, allOf } = value as Readonly<Record<string, unknown>>
  if (typeof $ref === 'string') return $ref.startsWith('#') || $ref.endsWith('.json')
  return isType(type) || [anyOf, oneOf, allOf].some((list) => Array.isArray(list) && list.every(isSchema))
}

/** The member of a schema says what is allowed; `default`, `const`, `enum` and examples hold values. */
export const isKeyword = (name: string): boolean => KEYWORDS.has(name)
