import { sha256 } from 'guard-gateway/lib/ids'
import { writeJson } from 'guard-gateway/lib/json'

/** Members of bodies, messages and content blocks that change without meaning anything; without case, `_` and `-`. */
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

/** The same for tool arguments, where `id` and `timestamp` are content: fetching ticket 41, then 42, is work. */
const volatileInArguments = new Set(['requestid', 'traceid', 'spanid', 'correlationid', 'idempotencykey', 'nonce'])

const volatileInTools = new Set(['cachecontrol'])

/** Which members canonical text leaves out. */
export type Volatile = (name: string) => boolean

/** Remembers its verdict per name, since requests use the same few names over and over. */
const remembered = (names: ReadonlySet<string>): Volatile => {
  const verdicts = new Map<string, boolean>()
  return (name) => {
    const known = verdicts.get(name)
    if (known !== undefined) return known
    const verdict = names.has(name.replace(/[_-]/g, '').toLowerCase())
    if (verdicts.size < 4096) verdicts.set(name, verdict)
    return verdict
  }
}

export const inBodies = remembered(volatileInBodies)
export const inArguments = remembered(volatileInArguments)
const inTools = remembered(volatileInTools)
export const nothing: Volatile = () => false

const DEPTH_LIMIT = 256
const NODE_LIMIT = 200_000

/**
 * One text for all spellings of a value: members sorted, volatile ones left out, numbers as JSON prints them.
 * What lies deeper than 256 levels, or behind 200,000 nodes, is taken as it is printed.
 */
export const canonical = (value: unknown, volatile: Volatile): string => {
  nodes = 0
  return written(value, volatile, 0)
}

/** Objects and arrays that the text under way has come to. */
let nodes = 0

const written = (part: unknown, volatile: Volatile, depth: number): string => {
  if (part === null || typeof part !== 'object') return scalar(part)
  if (depth > DEPTH_LIMIT || ++nodes > NODE_LIMIT) return writeJson(part)
  if (Array.isArray(part)) return `[${part.map((element) => written(element, volatile, depth + 1)).join(',')}]`
  const object = part as Readonly<Record<string, unknown>>
  let text = '{'
  const names = Object.keys(object)
  if (names.length > 1) names.sort()
  for (const name of names) {
    if (volatile(name)) continue
    text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:${written(object[name], volatile, depth + 1)}`
  }
  return `${text}}`
}

const scalar = (value: unknown): string =>
  typeof value === 'bigint' ? String(value) : (JSON.stringify(value) ?? 'null')

/** Members to leave out of one tool definition, and nothing below it. */
const toolText = (tool: unknown): string => {
  if (tool === null || typeof tool !== 'object' || Array.isArray(tool)) return canonical(tool, nothing)
  const kept = Object.entries(tool).filter(([name]) => !inTools(name))
  return canonical(Object.fromEntries(kept), nothing)
}

const toolHashes = new WeakMap<object, string>()

/** SHA-256 of tool definitions, in order, without the `cache_control` of an entry; remembered while the parsed value lives. */
export const hashTools = (tools: unknown): string => {
  if (tools === null || typeof tools !== 'object') return tools === undefined ? '' : sha256(canonical(tools, nothing))
  const known = toolHashes.get(tools)
  if (known !== undefined) return known
  const hash = sha256(Array.isArray(tools) ? tools.map(toolText).join('\n') : canonical(tools, nothing))
  toolHashes.set(tools, hash)
  return hash
}

/** A text as a field that NUL ends: no two lists of fields are joined to one text. */
export const field = (text: string): string => (text.includes('\0') || text[0] === '"' ? JSON.stringify(text) : text)

const unusual = /[^\S ]| {2}/
const blanks = /[^\S ]\s*| \s+/g

/** Runs of white space as one space, ends trimmed. */
export const collapse = (text: string): string => {
  const trimmed = text.trim()
  return unusual.test(trimmed) ? trimmed.replace(blanks, ' ') : trimmed
}

export const REMINDER = '<system-reminder>'
const REMINDER_END = '</system-reminder>'

/** The text without reminder spans, which clients add and move as they please; an open span reaches to the end. */
export const withoutReminders = (text: string): string => {
  let start = text.indexOf(REMINDER)
  if (start === -1) return text
  let kept = ''
  let from = 0
  while (start !== -1) {
    kept += text.slice(from, start)
    const end = text.indexOf(REMINDER_END, start)
    if (end === -1) return kept
    from = end + REMINDER_END.length
    start = text.indexOf(REMINDER, from)
  }
  return kept + text.slice(from)
}
