import type { YamlModule, YamlNode, YamlPair } from './module.ts'

/** What is wrong with a document, and the offset where. */
export interface YamlFault {
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
export const tooDeepToken = (tokens: Iterable<unknown>, limit: number): number | undefined => {
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
export const structureFault = (yaml: YamlModule, contents: unknown): YamlFault | undefined => {
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
