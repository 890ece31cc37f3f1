import { sha256 } from '#lib/ids'
import {
  isJsonObject,
  isScanFault,
  type JsonValue,
  memberIn,
  readJson,
  scanJson,
  sourceOf,
  stringIn,
  writeJson,
} from '#lib/json'
import { canonicalJson } from '#lib/trace'
import type { ServerFacts } from '../messages/initialize.ts'
import type { CompiledSchema } from '../schemas/compile.ts'
import type { CompiledInput } from '../schemas/input.ts'

/** A tool as its server describes it. */
export interface Definition {
  readonly name: string
  /** As the server wrote it. */
  readonly json: string
  /** SHA-256 in hex of what a caller or a model goes by. */
  readonly fingerprint: string
  readonly inputSchema: unknown
  /** Made at the first call. */
  compiled?: CompiledInput
  /** Made when a structured result is changed for the first time. */
  output?: Promise<CompiledSchema | undefined>
  /** Made when something is first found in a call. */
  names?: ReadonlySet<string>
}

/** A page of a list of tools. */
export interface Page {
  readonly definitions: readonly Definition[]
  /** Cursor of the next page; undefined on the last one. */
  readonly next: string | undefined
}

/** `_meta` holds what an app shows for the tool; `instructions` are those of the server. */
const PINNED = [
  ...['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'],
  ...['icons', '_meta', 'execution', 'instructions'],
]

/** What a server says to models and people beside its tools is among the pins under this name. */
export const INSTRUCTIONS = '(instructions)'

/** What a server says of itself as a thing that is pinned; its version may change. */
export const serverDefinition = ({ instructions, server_info }: ServerFacts): Definition => {
  const info: unknown = readJson(server_info)
  const { title, description, icons } = isJsonObject(info) ? info : {}
  const present = Object.entries({ instructions, title, description, icons }).filter(
    ([, part]) => (part ?? null) !== null,
  )
  return definitionOf(INSTRUCTIONS, writeJson(Object.fromEntries(present)), undefined)
}

/** Reads the result of a `tools/list`. `known` gives a definition that was read before, so that an unchanged one is not read again. */
export const readPage = (result: string, known: (name: string) => Definition | undefined): Page => {
  const scan = scanJson(result)
  if (isScanFault(scan)) return { definitions: [], next: undefined }
  const next = stringIn(result, memberIn(scan.root, 'nextCursor')?.value)
  const definitions = toolsIn(scan.root).flatMap((value) => {
    const name = nameOf(result, value)
    return name === undefined || name === '' ? [] : [definitionOf(name, sourceOf(result, value), known(name))]
  })
  return { definitions, next }
}

/** The entries of a list of tools. */
export const toolsIn = (root: JsonValue): readonly JsonValue[] => memberIn(root, 'tools')?.value.items ?? []

/** The name of an entry. */
export const nameOf = (text: string, tool: JsonValue): string | undefined =>
  stringIn(text, memberIn(tool, 'name')?.value)

const definitionOf = (name: string, json: string, known: Definition | undefined): Definition => {
  if (known?.json === json) return known
  const read: unknown = readJson(json)
  const tool = isJsonObject(read) ? read : {}
  const pinned = pinnedOf(tool)
  return { name, json, fingerprint: sha256(canonicalJson(pinned)), inputSchema: pinned.inputSchema }
}

/** The members of a definition that a caller or a model goes by. */
export const pinnedOf = (tool: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(PINNED.flatMap((key) => (Object.hasOwn(tool, key) ? [[key, tool[key]]] : [])))
