import { GuardError } from 'guard-gateway/core'
import { locationIn, locationsOf, type YamlLocation, type YamlLocations } from './locations.ts'
import type { YamlDocument, YamlLines, YamlModule, YamlNode, YamlPair } from './module.ts'

export type { YamlModule } from './module.ts'

/** The default for `max_bytes`: 256 KiB. */
const MAX_YAML_BYTES = 262_144
const MAX_DEPTH = 64
const MAX_ALIASES = 20

export interface YamlLimits {
  readonly max_bytes?: number
}

export interface Yaml {
  readonly value: unknown
  /** Where the member or element at `path` is (its key, if it has one); what is not there gives the nearest part around it. */
  readonly locate: (path: readonly (string | number)[]) => YamlLocation
}

/**
 * Reads one YAML 1.2 document from outside: bounded size, depth and aliases; plain, unique keys; no tags of types beyond JSON's.
 * Throws GuardError INVALID_YAML, line and column in its place. Slow on large text: `readLongYaml` is for what comes in while serving.
 */
export const readYaml = (yaml: YamlModule, text: string, options: YamlLimits = {}): Yaml => {
  const { value, places } = readWithLocations(yaml, text, options)
  let known: YamlLocations | undefined
  return {
    value,
    locate(path) {
      known ??= places()
      return locationIn(known, path)
    },
  }
}

/** As `readYaml`, and where everything is in a form that can be sent to another thread. */
export const readWithLocations = (
  yaml: YamlModule,
  text: string,
  { max_bytes = MAX_YAML_BYTES }: YamlLimits,
): { readonly value: unknown; readonly places: () => YamlLocations } => {
  const bytes = Buffer.byteLength(text)
  if (bytes > max_bytes) throw new GuardError('INVALID_YAML', `The text has ${bytes} bytes, ${max_bytes} are allowed.`)
  const lines = new yaml.LineCounter()
  const refuse = ({ message, at }: YamlFault, cause?: unknown): never => {
    const { line, column } = placeOf(lines, at)
    throw new GuardError('INVALID_YAML', message, { line, column, cause })
  }
  // Deep nesting can end the process inside the package, so it is counted on tokens before anything is composed.
  const deep = tooDeepToken(new yaml.Parser().parse(text), MAX_DEPTH)
  if (deep !== undefined) {
    throw new GuardError('INVALID_YAML', `Nested deeper than ${MAX_DEPTH} levels.`, countTo(text, deep))
  }
  const document = compose(yaml, text, lines)
  const fault = documentFault(document) ?? structureFault(yaml, document.contents)
  if (fault !== undefined) refuse(fault)
  try {
    return {
      value: document.toJS({ maxAliasCount: MAX_ALIASES }),
      places: () => locationsOf(document.contents, (at) => placeOf(lines, at)),
    }
  } catch (error) {
    return refuse(
      { message: `Aliases are used more than ${MAX_ALIASES} times over, or refer to nothing.`, at: 0 },
      error,
    )
  }
}

const compose = (yaml: YamlModule, text: string, lines: YamlLines): YamlDocument =>
  yaml.parseDocument(text, {
    version: '1.2',
    merge: false,
    uniqueKeys: false,
    prettyErrors: false,
    resolveKnownTags: false,
    lineCounter: lines,
  })

const placeOf = (lines: YamlLines, at: number): YamlLocation => {
  const { line, col } = lines.linePos(at)
  return { line: Math.max(1, line), column: Math.max(1, col) }
}

const countTo = (text: string, at: number): YamlLocation => {
  const before = text.slice(0, at).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

/** Errors and warnings alike refuse a document, and so does a directive that asks for other rules. */
const documentFault = ({ errors, warnings, directives }: YamlDocument): YamlFault | undefined => {
  const [problem] = [...errors, ...warnings]
  if (problem?.code === 'MULTIPLE_DOCS')
    return { message: 'A second document begins here; keep one of them.', at: problem.pos[0] }
  if (problem !== undefined) return { message: problem.message, at: problem.pos[0] }
  return directives?.yaml.explicit === true && directives.yaml.version !== '1.2'
    ? { message: `The document asks for YAML ${directives.yaml.version}; only 1.2 is read.`, at: 0 }
    : undefined
}

/** What is wrong with a document, and the offset where. */
interface YamlFault {
  readonly message: string
  readonly at: number
}

interface Token {
  readonly offset?: number
  readonly key?: unknown
  readonly value?: unknown
  readonly items?: readonly unknown[]
}

/** The offset of the first collection, key or value, that lies deeper than `limit`; undefined if none does. Iterative. */
const tooDeepToken = (tokens: Iterable<unknown>, limit: number): number | undefined => {
  const waiting: (readonly [token: Token, depth: number])[] = []
  const wait = (token: unknown, depth: number): void => {
    if (typeof token === 'object' && token !== null) waiting.push([token, depth])
  }
  for (const token of tokens) wait(token, 0)
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [token, depth] = next
    const inside = token.items === undefined ? depth : depth + 1
    if (inside > limit) return token.offset ?? 0
    wait(token.key, inside)
    wait(token.value, inside)
    for (const item of token.items ?? []) wait(item, inside)
  }
  return undefined
}

/** Anchored nodes by name; the last one wins, as in the order of the document. */
type Anchors = Map<string, YamlNode>

const startOf = (node: unknown): number => (node as YamlNode | null)?.range?.[0] ?? 0

/** The first key that is no plain string or occurs twice, number that JSON does not have, or alias that refers to what it is in; visits nodes in order. */
const structureFault = (yaml: YamlModule, contents: unknown): YamlFault | undefined => {
  const anchors: Anchors = new Map()
  const waiting: unknown[] = [contents]
  while (waiting.length > 0) {
    const node = waiting.pop() as YamlNode | null | undefined
    if (node === null || node === undefined) continue
    if (node.anchor !== undefined) anchors.set(node.anchor, node)
    const fault = nodeFault(yaml, node, anchors)
    if (fault !== undefined) return fault
    for (const child of childrenOf(yaml, node).toReversed()) waiting.push(child)
  }
  return undefined
}

const childrenOf = (yaml: YamlModule, node: YamlNode): readonly unknown[] =>
  yaml.isMap(node) ? (node.items ?? []).map((item) => (item as YamlPair).value) : (node.items ?? [])

const nodeFault = (yaml: YamlModule, node: YamlNode, anchors: Anchors): YamlFault | undefined => {
  if (yaml.isMap(node)) return mapFault(yaml, node)
  if (typeof node.value === 'number' && !Number.isFinite(node.value))
    return { message: 'A number must be finite.', at: startOf(node) }
  return yaml.isAlias(node) ? aliasFault(node, anchors) : undefined
}

/** Done here because the package compares every key with every other: 30,000 keys take it seconds. */
const mapFault = (yaml: YamlModule, map: YamlNode): YamlFault | undefined => {
  const seen = new Set<string>()
  for (const item of map.items ?? []) {
    const key = (item as YamlPair).key as YamlNode | null | undefined
    const message = keyFault(yaml, key, seen)
    if (message !== undefined) return { message, at: startOf(key ?? map) }
  }
  return undefined
}

const keyFault = (yaml: YamlModule, key: YamlNode | null | undefined, seen: Set<string>): string | undefined => {
  if (!yaml.isScalar(key) || typeof key?.value !== 'string')
    return 'A key must be plain text; put a number or a word such as true in quotes.'
  if (key.anchor !== undefined) return 'A key must not carry an anchor.'
  if (seen.has(key.value)) return 'The key appears twice in one map; keep one of the two.'
  seen.add(key.value)
  return undefined
}

/** An alias inside the collection it names would make the value endless. */
const aliasFault = (alias: YamlNode, anchors: Anchors): YamlFault | undefined => {
  const at = startOf(alias)
  const target = anchors.get(alias.source ?? '')
  if (target?.items === undefined) return undefined
  const inside = at >= startOf(target) && at < (target.range?.[2] ?? 0)
  return inside ? { message: 'An alias refers to the collection it stands in.', at } : undefined
}
