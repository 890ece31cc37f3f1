import {
  applyEdits,
  type Edit,
  isScanFault,
  type JsonMember,
  type JsonValue,
  memberIn,
  removalsFrom,
  removeMembers,
  scanJson,
  sourceOf,
  stringIn,
} from '#lib/json'
import { nameOf, toolsIn } from './definition.ts'
import type { ListView } from './server-tools.ts'

/** A page of a list of tools as the client gets it: without hidden tools and tasks, output schemas widened. Every other character stays. */
export const rewritePage = (result: string, { hidden, canConfirm }: ListView): string => {
  const scan = scanJson(result)
  const list = isScanFault(scan) ? undefined : memberIn(scan.root, 'tools')?.value
  if (isScanFault(scan) || list === undefined) return result
  const tools = toolsIn(scan.root)
  const names = tools.map((tool) => nameOf(result, tool) ?? '')
  const gone = names.map((name) => name !== '' && hidden(name))
  const edits = removalsFrom(list, (index) => gone[index] === true)
  for (const [index, tool] of tools.entries())
    if (gone[index] !== true) edits.push(...editsOf(result, tool, canConfirm(names[index] ?? '')))
  return applyEdits(result, edits)
}

const editsOf = (text: string, tool: JsonValue, mayAsk: boolean): readonly Edit[] => {
  const execution = memberIn(tool, 'execution')?.value
  const tasks = execution === undefined ? [] : removeMembers(execution, ['taskSupport'])
  const schema = mayAsk ? memberIn(tool, 'outputSchema')?.value : undefined
  return schema === undefined ? tasks : [...tasks, ...(widened(text, schema) ?? removeMembers(tool, ['outputSchema']))]
}

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
const widened = (text: string, schema: JsonValue): Edit[] | undefined => {
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
