import { sha256 } from '#lib/ids'
import { writeJson } from '#lib/json'

/** Members of bodies, messages and content blocks whose changes mean nothing. Names are compared without case, `_` and `-`. */
const volatileInBodies = new Set([
  'id',
  'callid',
  'toolcallid',
  'tooluseid',
  'itemid',
  'requestid',
  'xrequestid',
  'traceid',
  'spanid',
  'correlationid',
  'idempotencykey',
  'timestamp',
  'created',
  'createdat',
  'updatedat',
  'status',
  'signature',
  'encryptedcontent',
  'cachecontrol',
  'annotations',
  'logprobs',
  'metadata',
  'clientmetadata',
])

/** The same for tool arguments. There `id` and `timestamp` are content: to fetch ticket 41 and then 42 is work. */
const volatileInArguments = new Set(['requestid', 'traceid', 'spanid', 'correlationid', 'idempotencykey', 'nonce'])

const volatileInTools = new Set(['cachecontrol'])

/** Whether canonical text leaves a member of this name out. */
export type IsVolatile = (name: string) => boolean

const oneOf =
  (names: ReadonlySet<string>): IsVolatile =>
  (name) =>
    names.has(name.replace(/[_-]/g, '').toLowerCase())

export const inBodies = oneOf(volatileInBodies)
export const inArguments = oneOf(volatileInArguments)
const inTools = oneOf(volatileInTools)
export const nothing: IsVolatile = () => false

const DEPTH_LIMIT = 256
const NODE_LIMIT = 200_000

/**
 * Canonical JSON text of a value: members sorted, volatile ones left out, numbers as JSON prints them.
 * Values deeper than 256 levels, or after 200,000 nodes, are printed as they are.
 */
export const canonical = (value: unknown, volatile: IsVolatile): string => {
  nodes = 0
  return writeCanonical(value, volatile, 0)
}

/** The number of objects and arrays in the text that is being written. */
let nodes = 0

const writeCanonical = (part: unknown, volatile: IsVolatile, depth: number): string => {
  if (part === null || typeof part !== 'object') return writeScalar(part)
  if (depth > DEPTH_LIMIT || ++nodes > NODE_LIMIT) return writeJson(part)
  if (Array.isArray(part)) return `[${part.map((element) => writeCanonical(element, volatile, depth + 1)).join(',')}]`
  const object = part as Readonly<Record<string, unknown>>
  let text = '{'
  const names = Object.keys(object)
  if (names.length > 1) names.sort()
  for (const name of names) {
    if (volatile(name)) continue
    text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:${writeCanonical(object[name], volatile, depth + 1)}`
  }
  return `${text}}`
}

const writeScalar = (value: unknown): string =>
  typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'null')

/** The canonical text of a tool definition. Volatile members are left out at its top level only. */
const toolText = (tool: unknown): string => {
  if (tool === null || typeof tool !== 'object' || Array.isArray(tool)) return canonical(tool, nothing)
  const retained = Object.entries(tool).filter(([name]) => !inTools(name))
  return canonical(Object.fromEntries(retained), nothing)
}

const toolHashes = new WeakMap<object, string>()

/** SHA-256 of tool definitions, in order, without `cache_control` of each entry. Cached as long as the parsed value is alive. */
export const hashTools = (tools: unknown): string => {
  if (tools === null || typeof tools !== 'object') return tools === undefined ? '' : sha256(canonical(tools, nothing))
  const known = toolHashes.get(tools)
  if (known !== undefined) return known
  const hash = sha256(Array.isArray(tools) ? tools.map(toolText).join('\n') : canonical(tools, nothing))
  toolHashes.set(tools, hash)
  return hash
}

/** A text as a field that NUL terminates. Different lists of fields never give the same joined text. */
export const field = (text: string): string => (text.includes('\0') || text[0] === '"' ? JSON.stringify(text) : text)

const unusual = /[^\S ]| {2}/
const blanks = /[^\S ]\s*| \s+/g

/** Collapses white space to single spaces, and trims. */
export const collapse = (text: string): string => {
  const trimmed = text.trim()
  return unusual.test(trimmed) ? trimmed.replace(blanks, ' ') : trimmed
}
