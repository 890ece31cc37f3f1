import { isJsonObject, pointerKeys, pointerPart } from '#lib/json'
import { powerfulArguments, type Reach, reachesOf, wordsOf } from '../policy/lints/powerful.ts'
import { type DraftedTool, isPlainArgument } from './drafted-tool.ts'
import { partAt, propertiesOf, typesOf } from './schema-parts.ts'

/** The check that fits an argument; `option`: a program would take a value with a dash for an option; `none`: no check can judge it. */
export type Fit = 'path' | 'http' | 'shell' | 'sql' | 'option' | 'none'

/** A powerful argument of a tool. */
export interface ArgumentUse {
  readonly fit: Fit
  readonly reach: Reach | undefined
  readonly pointer: string
  /** The argument of the call that it is, or is in. */
  readonly name: string
  /** A call may lack what the pointer leads to. */
  readonly isOptional: boolean
}

/** Programs behind tools that take their arguments for options. */
const PROGRAMS = /(?:^|[^a-z])(?:git|hg|svn|jj|docker|podman|kubectl|helm|npm|pnpm|yarn|cargo|pip|ffmpeg)(?:[^a-z]|$)/

/** Names of what such programs are given beside files. */
const PROGRAM_INPUTS = new Set(
  'target ref refs branch branches commit commits commitish revision rev tag remote upstream onto object base head point image container package'.split(
    ' ',
  ),
)

/** Whether a tool hands its arguments to a program, as its name or that of its server says. */
export const drivesProgram = ({ server_id, name }: DraftedTool): boolean =>
  PROGRAMS.test(`${server_id} ${name}`.toLowerCase())

/** More arguments, or more that reach out, are too many to be judged one by one. */
const MAX_ARGUMENTS = 60

/** Whether a tool has too many arguments for a draft. */
export const hasTooMany = ({ inputSchema }: DraftedTool): boolean =>
  Object.keys(propertiesOf(inputSchema) ?? {}).length > MAX_ARGUMENTS ||
  powerfulArguments(inputSchema).length > MAX_ARGUMENTS

/** The arguments of a tool that reach out, each with the check that fits. */
export const argumentUses = (tool: DraftedTool): readonly ArgumentUse[] => {
  if (hasTooMany(tool)) return []
  const powerful = powerfulArguments(tool.inputSchema).flatMap((pointer) => usesAt(tool, pointer))
  const programInputs = drivesProgram(tool) ? programInputUses(tool) : []
  const more = [...programInputs, ...referringUses(tool)]
  const all = [...powerful, ...more.filter(({ name }) => !powerful.some((use) => use.name === name))]
  return [...new Map(all.map((use) => [use.pointer, use])).values()]
}

/** A list of objects, or an object, is as powerful as what is in it. */
const usesAt = (tool: DraftedTool, pointer: string): readonly ArgumentUse[] => {
  const { inputSchema } = tool
  const part = partAt(inputSchema, pointer)
  const types = typesOf(part?.schema)
  const isList = types.includes('array')
  const at = isList ? `${pointer}/*` : pointer
  const inner = partAt(inputSchema, at)
  if (typesOf(inner?.schema).includes('object')) {
    const deeper = powerfulArguments(inner?.schema).map((below) => at + below)
    return deeper.length === 0 ? [useOf(tool, pointer, 'none')] : deeper.flatMap((one) => usesAt(tool, one))
  }
  const fit = isCertain(inputSchema, pointer) ? fitOf(tool, pointer, isList) : 'none'
  // words of an argument list are judged together
  return [useOf(tool, isList && fit !== 'shell' && fit !== 'none' ? at : pointer, fit)]
}

/** Everything on the way to the argument is an object or a list, so that a check finds it there. */
const isCertain = (schema: unknown, pointer: string): boolean => {
  const keys = pointer.split('/').slice(1)
  return keys.every((_key, at) => {
    const above = `/${keys.slice(0, at).join('/')}`
    return at === 0 || typesOf(partAt(schema, above)?.schema).every((type) => type === 'object' || type === 'array')
  })
}

const useOf = ({ inputSchema }: DraftedTool, pointer: string, fit: Fit): ArgumentUse => {
  const keys = pointerKeys(pointer)
  const isOdd = keys.some((key) => key !== '*' && !isPlainArgument(key))
  const last = keys.findLast((key) => key !== '*') ?? ''
  return {
    fit: isOdd ? 'none' : fit,
    reach: reachesOf(last).at(-1),
    pointer,
    name: keys[0] ?? '',
    isOptional: partAt(inputSchema, pointer)?.isRequired !== true,
  }
}

const FITS: Readonly<Record<Reach, Fit>> = {
  file: 'path',
  address: 'http',
  host: 'none',
  command: 'shell',
  program: 'none',
  code: 'none',
  query: 'sql',
}

const SQL = /\b(?:sql|postgres(?:ql)?|mysql|mariadb|sqlite|duckdb|clickhouse|database)\b/

/** By the last word of the name that counts: a file that holds a program is as powerful as the program. */
const fitOf = (tool: DraftedTool, pointer: string, isList: boolean): Fit => {
  const name = pointerKeys(pointer).findLast((key) => key !== '*') ?? ''
  const reaches = reachesOf(name)
  const reach = reaches.at(-1)
  if (reach === undefined) return 'none'
  if (reach === 'file' && reaches.some((one) => one === 'program' || one === 'code')) return 'none'
  if (reach === 'query') return !isList && isSql(tool, name) ? 'sql' : 'none'
  return FITS[reach]
}

const isSql = (tool: DraftedTool, name: string): boolean => wordsOf(name).includes('sql') || SQL.test(textOf(tool))

const textOf = ({ server_id, name, description }: DraftedTool): string =>
  `${server_id} ${name} ${description ?? ''}`.toLowerCase().replaceAll('_', ' ')

/** The dialect that a tool speaks, as far as its words say. */
export const dialectOf = (tool: DraftedTool): 'postgres' | 'mysql' | 'sqlite' | 'generic' => {
  const text = textOf(tool)
  if (/postgres/.test(text)) return 'postgres'
  if (/mysql|mariadb/.test(text)) return 'mysql'
  return /sqlite/.test(text) ? 'sqlite' : 'generic'
}

/** What a program is given beside files: names that it would take for options if they began with a dash. */
const programInputUses = (tool: DraftedTool): readonly ArgumentUse[] =>
  Object.entries(propertiesOf(tool.inputSchema) ?? {}).flatMap(([name, part]) => {
    if (!wordsOf(name).some((word) => PROGRAM_INPUTS.has(word)) || !isText(part)) return []
    const pointer = `/${pointerPart(name)}`
    return [useOf(tool, typesOf(part).includes('array') ? `${pointer}/*` : pointer, 'option')]
  })

const isText = (schema: unknown): boolean => {
  if (!isJsonObject(schema) || schema.enum !== undefined || schema.const !== undefined) return false
  const types = typesOf(schema)
  return types.includes('string') || typesOf(schema.items).includes('string')
}

const REFERENCE = /"\$ref":"(?:#\/(?:\$defs|definitions)\/([^"/]+))?/g
const WORDS: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'null'])

/** Arguments whose schema stands elsewhere: whatever reaches out in it is not seen here. */
const referringUses = (tool: DraftedTool): readonly ArgumentUse[] => {
  const schema = isJsonObject(tool.inputSchema) ? tool.inputSchema : {}
  const isPlain = (name = ''): boolean =>
    [schema.$defs, schema.definitions].some((all) => {
      const found = isJsonObject(all) && Object.hasOwn(all, name) ? all[name] : undefined
      return isJsonObject(found) && (Array.isArray(found.enum) || WORDS.has(found.type))
    })
  return Object.entries(propertiesOf(schema) ?? {}).flatMap(([name, part]) => {
    const named = [...(JSON.stringify(part) ?? '').matchAll(REFERENCE)]
    return named.every(([, one]) => isPlain(one)) ? [] : [useOf(tool, `/${pointerPart(name)}`, 'none')]
  })
}
