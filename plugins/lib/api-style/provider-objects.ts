import type { ProviderObject } from 'guard-gateway/core'
import { isJsonObject, type JsonObject } from '#lib/json'

/** The kind of object that the segment behind this one names, in lower case: some servers overlook case; null: a name that belongs to nobody. */
const collections: ReadonlyMap<string, string | null> = new Map([
  ['responses', 'response'],
  ['completions', 'completion'],
  ['conversations', 'conversation'],
  ['interactions', 'interaction'],
  ['files', 'file'],
  ['uploads', 'upload'],
  ['batches', 'batch'],
  ['containers', 'container'],
  ['cachedcontents', 'cached_content'],
  ['prompts', 'prompt'],
  ['vector_stores', 'vector_store'],
  ['filesearchstores', 'vector_store'],
  ['evals', 'eval'],
  ['jobs', 'fine_tuning_job'],
  ['assistants', 'assistant'],
  ['threads', 'thread'],
  ['skills', 'skill'],
  ['environments', 'environment'],
  ['vaults', 'vault'],
  ['memory_stores', 'memory_store'],
  ['videos', 'video'],
  ['tunedmodels', 'tuned_model'],
  ['model', null],
  ['models', null],
  ['items', null],
])

/** The segment behind this one is an id or a name, and no part of the path itself. */
export const isIdSegment = (before: string | undefined): boolean =>
  before !== undefined && collections.has(before.toLowerCase())

/** Longer ids name nothing. */
const MAX_ID = 1_024

/** The objects that a decoded path names, the outermost first; `files/x:download` and `files/x.` name `x` too. */
export const objectsInPath = (path: string): readonly ProviderObject[] => {
  const segments = path.split('/')
  return segments.flatMap((id, index) => {
    const kind = collections.get(segments[index - 1]?.toLowerCase() ?? '') ?? null
    if (kind === null || id === '' || id.length > MAX_ID) return []
    // an action behind it, and what some servers cut off
    const bare = id.replace(/(?<=.):[^:]*$/, '').replace(/^\s+|[\s.]+$/g, '')
    return bare === id || bare === ''
      ? [{ kind, id }]
      : [
          { kind, id },
          { kind, id: bare },
        ]
  })
}

/** The kind of the collection that a decoded path ends with, as `/v1/files`; undefined for another path. */
export const collectionAt = (path: string): string | undefined => {
  const last = path.replace(/\/+$/, '').split('/').at(-1)?.toLowerCase() ?? ''
  return collections.get(last) ?? undefined
}

/** The kind of object that a member of a body names: its value is an id, a list of ids, or holds one as `id`. */
const members: ReadonlyMap<string, string> = new Map(
  Object.entries({
    response: ['previous_response_id', 'response_id'],
    interaction: ['previous_interaction_id', 'interaction_id'],
    conversation: ['conversation', 'conversation_id'],
    file: [
      ...['file_id', 'file_ids', 'input_file_id', 'output_file_id', 'error_file_id', 'training_file'],
      ...['validation_file', 'result_files', 'fileUri', 'file_uri', 'fileId', 'fileIds', 'fileName', 'file_name'],
    ],
    upload: ['upload_id'],
    batch: ['batch_id'],
    container: ['container', 'container_id', 'containerId'],
    cached_content: ['cachedContent', 'cached_content'],
    prompt: ['prompt', 'prompt_id'],
    vector_store: ['vector_store_id', 'vector_store_ids', 'fileSearchStoreNames', 'file_search_store_names'],
    eval: ['eval_id'],
    assistant: ['assistant_id'],
    skill: ['skill_id'],
    video: ['video_id', 'video'],
    thread: ['thread_id'],
    environment: ['environment_id'],
    vault: ['vault_ids'],
    memory_store: ['memory_store_id'],
  }).flatMap(([kind, names]) => names.map((name) => [name, kind] as const)),
)

/** The kind of object that a part of this type names as `id`: the source of an eval, an item of an earlier reply. */
const types: ReadonlyMap<unknown, string> = new Map([
  ['file_id', 'file'],
  ['item_reference', 'item'],
])

/** What a model or a person wrote for a tool, and schemas of that: names in it are nobody's objects. */
const ARGUMENTS: ReadonlySet<string> = new Set([
  ...['arguments', 'args'],
  ...['parameters', 'parametersJsonSchema', 'input_schema', 'json_schema', 'responseSchema', 'responseJsonSchema'],
])

/** The objects that JSON names, anywhere in it. What stands in texts, also in arguments of tools, names none. */
export const objectsIn = (json: unknown): readonly ProviderObject[] => {
  const found: ProviderObject[] = []
  const open: unknown[] = [json]
  // no recursion: what is passed on unjudged may nest as deep as it likes
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (Array.isArray(value)) for (const each of value) openIn(each, open)
    else if (isJsonObject(value)) readMembers(value, found, open)
  }
  return found.length === 0 ? NONE : distinct(found)
}

export const NONE: readonly ProviderObject[] = Object.freeze([])

const readMembers = (object: JsonObject, found: ProviderObject[], open: unknown[]): void => {
  for (const name in object) {
    const value = object[name]
    const kind = members.get(name)
    if (kind !== undefined) for (const named of objectsNamed(kind, name, value)) found.push(named)
    if (typeof value === 'object' && value !== null && !isArgument(object, name)) open.push(value)
  }
  const kind = types.get(object.type)
  if (kind !== undefined) found.push(...objectsNamed(kind, 'id', object.id))
}

/** Elsewhere the name of a file, or words. */
const PATHS_ALONE: ReadonlySet<string> = new Set(['fileName', 'file_name', 'video'])

/** What a tool is called with: a model or a person wrote it. */
const isArgument = (object: JsonObject, name: string): boolean =>
  ARGUMENTS.has(name) || (name === 'input' && isCall(object))

const isCall = ({ type }: JsonObject): boolean => typeof type === 'string' && type.endsWith('tool_use')

const openIn = (value: unknown, open: unknown[]): void => {
  if (typeof value === 'object' && value !== null) open.push(value)
}

/** A prompt that is text is no name of one. */
const objectsNamed = (kind: string, name: string, value: unknown): readonly ProviderObject[] => {
  if (Array.isArray(value)) return value.flatMap((each) => (Array.isArray(each) ? [] : objectsNamed(kind, name, each)))
  const text = isJsonObject(value) ? value.id : name === 'prompt' ? undefined : value
  if (typeof text !== 'string' || text.length > MAX_ID) return []
  if (PATHS_ALONE.has(name) && text === value && !text.includes('/')) return []
  const id = text.trim()
  return id.includes('/') ? objectsInPath(decodedText(`/${id.split(/[?#]/, 1)[0]}`)) : id === '' ? [] : [{ kind, id }]
}

const decodedText = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Each object once. */
export const distinct = (objects: readonly ProviderObject[]): readonly ProviderObject[] => [
  ...new Map(objects.map((object) => [`${object.kind} ${object.id}`, object])).values(),
]
