import { homedir } from 'node:os'
import { dirname, isAbsolute, resolve } from 'node:path'
import type { Registry } from 'guard-gateway/core'
import { valuesAtPointer } from '#lib/check-arguments'
import type { Arguments, McpCheck } from '#lib/mcp-check'
import { type ArgumentUse, argumentUses } from '../draft/argument-uses.ts'
import type { DraftedTool } from '../draft/drafted-tool.ts'
import { propertiesOf } from '../draft/schema-parts.ts'

/** How much like the call another one must be. `narrow`: the same files, hosts and commands; `wide`: the same folder, domain, kind of statement. */
export const widths = ['narrow', 'wide'] as const
export type Width = (typeof widths)[number]

/** What calls must be to be like one call. */
export interface Likeness {
  readonly checks: readonly Readonly<Record<string, object>>[]
  readonly only: readonly string[]
  /** Arguments that no check can judge: they must be the same. */
  readonly same: Readonly<Record<string, unknown>>
}

type Checks = Pick<Registry<McpCheck>, 'get'>

/** Finds what a call has in common with those that may be allowed beside it. `folder`: where its server runs. */
export const likenessOf = async (
  tool: DraftedTool,
  args: Arguments,
  width: Width,
  checks: Checks,
  folder: string = process.cwd(),
): Promise<Likeness> => {
  const used = argumentUses(tool).filter(({ name }) => Object.hasOwn(args, name))
  const made: Readonly<Record<string, object>>[] = []
  const same = new Set<string>()
  for (const use of used) {
    const check = await checkFor(use, textsAt(args, use.pointer), width === 'wide', checks, folder)
    if (check === undefined) same.add(use.name)
    else made.push(check)
  }
  // where nothing reaches out, all of it makes the call what it is
  if (width === 'narrow' && made.length === 0) for (const name of Object.keys(args)) same.add(name)
  const free = width === 'wide' ? harmless(tool) : []
  return {
    checks: made,
    only: [...new Set([...Object.keys(args), ...free])],
    same: Object.fromEntries([...same].map((name) => [name, args[name]])),
  }
}

/** Arguments that reach nowhere. */
const harmless = (tool: DraftedTool): readonly string[] => {
  const powerful = new Set(argumentUses(tool).map(({ name }) => name))
  return Object.keys(propertiesOf(tool.inputSchema) ?? {}).filter(
    (name) => !powerful.has(name) && !name.startsWith('/'),
  )
}

/** Undefined where some value is no text, or stands for something else in a policy. */
const textsAt = (args: Arguments, pointer: string): readonly string[] | undefined => {
  const values = [...valuesAtPointer(args, pointer)].map(({ value }) => value).filter((value) => value !== undefined)
  const texts = values.filter((value) => typeof value === 'string' && value !== '' && !value.includes('${'))
  return texts.length === values.length && texts.length > 0 ? (texts as string[]) : undefined
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)]

const checkFor = async (
  { fit, pointer }: ArgumentUse,
  texts: readonly string[] | undefined,
  isWide: boolean,
  checks: Checks,
  folder: string,
): Promise<Readonly<Record<string, object>> | undefined> => {
  if (texts === undefined) return undefined
  const args = [pointer]
  switch (fit) {
    case 'path':
      return passing('path', { args, ...foldersOf(texts, isWide, folder), deny: 'secrets' }, texts, checks)
    case 'http':
      return passing('http', { args, ...hostsOf(texts, isWide) }, texts, checks)
    case 'shell':
      return passing('shell', { args, allow: await commandsOf(texts, isWide, checks) }, texts, checks)
    case 'sql':
      return isWide ? sqlCheck(pointer, texts, checks) : undefined
    default:
      return undefined
  }
}

/** Files or their folders. Relative ones are taken from where the server runs, and so is what is held against them. */
const foldersOf = (texts: readonly string[], isWide: boolean, folder: string) => {
  const isHere = folder === process.cwd()
  const places = texts.map((text) => (isHere || isAbsolute(text) ? text : resolve(folder, text)))
  const inside = unique(isWide ? places.map(folderOf) : places)
  return { inside, ...(texts.every(isAbsolute) ? {} : { cwd: isHere ? '.' : folder }) }
}

/** Of a file in the root or in the home of the user the file alone: what is beside it starts programs. */
const folderOf = (place: string): string => {
  const folder = dirname(place)
  return resolve(folder) === dirname(resolve(folder)) || resolve(folder) === homedir() ? place : folder
}

const hostsOf = (texts: readonly string[], isWide: boolean) => {
  const urls = texts.filter((text) => URL.canParse(text)).map((text) => new URL(text))
  const hosts = unique(urls.map(({ hostname }) => hostname))
  const ports = [...new Set(urls.flatMap(({ port }) => (port === '' ? [] : [Number(port)])))]
  const schemes = unique(urls.map(({ protocol }) => protocol.slice(0, -1)))
  return {
    hosts: isWide ? unique(hosts.flatMap(withSubdomains)) : hosts,
    ...(schemes.every((scheme) => scheme === 'https') ? {} : { schemes }),
    ...(ports.length === 0 ? {} : { ports }),
  }
}

/** A host and those below it. What is above it may belong to others, as under co.uk or github.io. */
const withSubdomains = (host: string): readonly string[] => {
  const name = host.replace(/^www\./, '')
  const isName = name.includes('.') && !/[\d\]]$/.test(name)
  return isName ? [host, name, `*.${name}`] : [host]
}

const PLAIN_WORDS = /^[A-Za-z0-9_./@:=,+-]+(?: [A-Za-z0-9_./@:=,+-]+)*$/

/** Wide: its first two words, unless further ones could run something. */
const commandsOf = async (
  texts: readonly string[],
  isWide: boolean,
  checks: Checks,
): Promise<readonly (string | object)[]> => {
  const entries: (string | object)[] = []
  const shell = checks.get('shell')
  await shell?.prepare?.()
  for (const text of unique(texts)) {
    const begin = text.split(' ').slice(0, 2).join(' ')
    const isOpen = (shell?.lint?.({ args: ['/command'], allow: [begin] } as never) ?? []).length > 0
    entries.push(isWide && !isOpen && PLAIN_WORDS.test(text) ? begin : { command: text, end: true })
  }
  return entries
}

const OPERATIONS = ['select', 'explain', 'insert', 'update', 'delete'] as const

const sqlCheck = async (pointer: string, texts: readonly string[], checks: Checks) => {
  for (const operation of OPERATIONS) {
    const found = await passing('sql', { args: [pointer], operations: [operation] }, texts, checks)
    if (found !== undefined) return found
  }
  return undefined
}

/** The check, if it lets these values pass: else it is none of these calls. */
const passing = async (
  id: string,
  options: object,
  texts: readonly string[],
  checks: Checks,
): Promise<Readonly<Record<string, object>> | undefined> => {
  const check = checks.get(id)
  if (check === undefined) return undefined
  try {
    await check.prepare?.()
    const made = (await check.compile?.({ ...options, args: ['/value'] } as never)) ?? { ...options, args: ['/value'] }
    for (const value of texts) {
      const found = await check.find({ value }, made as never, { server_id: '', tool: '', cwd: undefined })
      if (found.length > 0) return undefined
    }
  } catch {
    return undefined
  }
  return { [id]: options }
}
