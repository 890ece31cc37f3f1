import {
  type Edit,
  type JsonMember,
  type JsonValue,
  memberIn,
  removeMembers,
  sourceOf,
  stringIn,
} from 'guard-gateway/lib/json'

/** The confirmation request as an alternative result of a tool. */
const QUESTION =
  '{"type":"object","required":["approval_id","action"],"properties":{"approval_id":{"type":"string"},"action":{"const":"confirm"}},"additionalProperties":false}'

/** Members whose values are data and no schemas. */
const DATA = new Set(['const', 'enum', 'default', 'examples', 'required'])
/** Members that hold schemas by names which are not keywords. */
const BY_NAME = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

/** Identity and dynamic references lose their meaning one level further in. */
const IMMOVABLE = new Set(['$id', '$dynamicRef', '$recursiveRef', '$dynamicAnchor', '$recursiveAnchor'])

interface WidenState {
  readonly edits: Edit[]
  isMovable: boolean
}

/**
 * Edits that make an output schema also accept a confirmation request.
 * Undefined for a schema that means something else when it is within another.
 */
export const widened = (text: string, schema: JsonValue): Edit[] | undefined => {
  if (schema.members === undefined) return undefined
  const state: WidenState = { edits: [], isMovable: true }
  visit(text, schema, state)
  if (!state.isMovable) return undefined
  const dialect = memberIn(schema, '$schema')?.value
  const head = dialect === undefined ? '{' : `{"$schema":${sourceOf(text, dialect)},`
  return [
    { start: schema.start, end: schema.start, text: `${head}"type":"object","anyOf":[` },
    ...removeMembers(schema, ['$schema']),
    ...state.edits,
    { start: schema.end, end: schema.end, text: `,${QUESTION}]}` },
  ]
}

const visit = (text: string, schema: JsonValue, state: WidenState): void => {
  for (const item of schema.items ?? []) visit(text, item, state)
  for (const member of schema.members ?? []) visitMember(text, member, state)
}

const visitMember = (text: string, { name, value }: JsonMember, state: WidenState): void => {
  if (IMMOVABLE.has(name)) state.isMovable = false
  else if (name === '$ref') moveReference(stringIn(text, value) ?? '', value, state)
  else if (BY_NAME.has(name)) for (const named of value.members ?? []) visit(text, named.value, state)
  else if (!DATA.has(name)) visit(text, value, state)
}

/** `#` and `#/…` count from the root, which is one level further out now; other references stay. */
const moveReference = (reference: string, { start, end }: JsonValue, state: WidenState): void => {
  if (reference === '#' || reference.startsWith('#/'))
    state.edits.push({ start, end, text: JSON.stringify(`#/anyOf/0${reference.slice(1)}`) })
}
