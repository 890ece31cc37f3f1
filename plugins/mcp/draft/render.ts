import { GuardError } from 'guard-gateway/core'
import { canonicalJson } from 'guard-gateway/lib/trace'
import type { Document, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml'
import type { PolicyDocument } from '../policy/document.ts'
import { readPolicy } from '../policy/read.ts'

/** What a draft says beside its values. Every line is one line of visible text. */
export interface DraftComments {
  /** Above everything. */
  readonly head: readonly string[]
  /** Above a rule, by its id. */
  readonly rules: ReadonlyMap<string, readonly string[]>
  /** Behind a value: the keys that lead to it, joined by a slash, and the words. */
  readonly beside: ReadonlyMap<string, string>
  /** Above the tests. */
  readonly tests: readonly string[]
}

type Yaml = typeof import('yaml')
/** As much of a node as is set here. */
type Node = { comment?: string | null; commentBefore?: string | null; spaceBefore?: boolean; flow?: boolean }

/** A policy as YAML with its comments. What comes out is read again: no name of a server may have changed what the text means. Throws INVALID_YAML otherwise. */
export const renderDraft = async (policy: PolicyDocument, comments: DraftComments): Promise<string> => {
  const yaml = await import('yaml')
  const doc = new yaml.Document(policy, { aliasDuplicateObjects: false, version: '1.2' })
  doc.commentBefore = lines(comments.head)
  for (const key of ['rules', 'tests']) pairAt(doc, key).spaceBefore = true
  formatRules(yaml, doc, policy, comments)
  formatTests(yaml, doc, comments)
  for (const [path, words] of comments.beside) besideAt(yaml, doc, path.split('/'), words)
  const text = doc.toString({ lineWidth: 0, doubleQuotedAsJSON: true })
  const { value } = await readPolicy(text)
  if (canonicalJson(value) !== canonicalJson(JSON.parse(JSON.stringify(policy))))
    throw new GuardError('INVALID_YAML', 'The draft cannot be written so that it reads as it was meant.')
  return text
}

const lines = (texts: readonly string[]): string => texts.map((text) => ` ${text}`).join('\n')

/** The key of a member, which carries what stands above it. */
const pairAt = (doc: Document, key: string): Node =>
  (doc.contents as YAMLMap).items.find((pair) => keyOf(pair) === key)?.key as Node

const keyOf = ({ key }: Pair): unknown => (key as Scalar).value

const formatRules = (yaml: Yaml, doc: Document, { rules }: PolicyDocument, comments: DraftComments): void => {
  const seq = doc.get('rules') as YAMLSeq<YAMLMap>
  for (const [at, item] of seq.items.entries()) {
    const above = comments.rules.get(rules[at]?.id ?? '')
    if (above !== undefined) item.commentBefore = lines(above)
    item.spaceBefore = at > 0
    for (const key of ['servers', 'only']) flow(yaml, item.get(key))
    if (!comments.beside.has(`rules/${at}/tools/0`)) flow(yaml, item.get('tools'))
    flowChecks(yaml, item.get('checks'))
  }
}

/** The options of a check stand on its line. */
const flowChecks = (yaml: Yaml, checks: unknown): void => {
  if (!yaml.isSeq(checks)) return
  for (const check of checks.items.filter(yaml.isMap)) for (const pair of check.items) flow(yaml, pair.value)
}

const formatTests = (yaml: Yaml, doc: Document, comments: DraftComments): void => {
  const seq = doc.get('tests')
  if (!yaml.isSeq(seq)) return
  seq.commentBefore = lines(comments.tests)
  for (const item of seq.items) flow(yaml, item)
}

const flow = (yaml: Yaml, node: unknown): void => {
  if (yaml.isCollection(node)) node.flow = true
}

const besideAt = (yaml: Yaml, doc: Document, keys: readonly string[], words: string): void => {
  const node: unknown = doc.getIn(
    keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key)),
    true,
  )
  if (yaml.isNode(node)) node.comment = ` ${words}`
}
