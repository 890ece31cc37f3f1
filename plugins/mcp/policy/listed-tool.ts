import { GuardError } from 'guard-gateway/core'
import { readJsonStrict, writeJson } from '#lib/json'

/** A tool as its server describes it, as far as warnings examine it. */
export interface ListedTool {
  /** Undefined where it is not known whose tool it is. */
  readonly server_id?: string
  readonly name: string
  readonly inputSchema?: unknown
}

const MAX_DEPTH = 128

/** A tool as its server lists it, with its definition as JSON. */
export interface ListedDefinition {
  readonly name: string
  readonly json: string
}

/** Reads a list of tools from a file: the result of a `tools/list`, a whole answer to it, or the bare list. Throws GuardError INVALID_JSON. */
export const readTools = (content: Buffer, file: string): readonly ListedTool[] =>
  toolsIn(content, file).flatMap((tool): readonly ListedTool[] => {
    const name = member(tool, 'name')
    return typeof name === 'string' ? [{ name, inputSchema: member(tool, 'inputSchema') }] : []
  })

/** The same with all that the server says of each tool; one that is listed twice counts as it stands last. */
export const readDefinitions = (content: Buffer, file: string): readonly ListedDefinition[] => {
  const all = toolsIn(content, file).flatMap((tool): readonly ListedDefinition[] => {
    const name = member(tool, 'name')
    return typeof name === 'string' ? [{ name, json: writeJson(tool) }] : []
  })
  return [...new Map(all.map((one) => [one.name, one])).values()]
}

const toolsIn = (content: Buffer, file: string): readonly unknown[] => {
  const value = readJsonStrict(content, { max_depth: MAX_DEPTH })
  const list = listIn(value) ?? listIn(member(value, 'result'))
  if (list === undefined)
    throw new GuardError('INVALID_JSON', `${file} holds no list of tools, as tools/list answers it.`)
  return list
}

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined

const listIn = (value: unknown): readonly unknown[] | undefined => {
  const list = Array.isArray(value) ? value : member(value, 'tools')
  return Array.isArray(list) ? list : undefined
}

/** The names of a tool's arguments; undefined where its schema does not say. */
export const argumentNames = ({ inputSchema }: ListedTool): readonly string[] | undefined => {
  const properties = member(inputSchema, 'properties')
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : undefined
}
