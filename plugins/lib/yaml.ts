import { extname } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import type { Document, Node, YAMLMap, YAMLSeq } from 'yaml'
import { ParserProcessError, parserProcess } from '#lib/parser-process'
import { locationIn } from './yaml/locations.ts'
import type { YamlAnswer, YamlText } from './yaml/parser.ts'
import { readYaml, type Yaml, type YamlLimits, type YamlModule } from './yaml/reader.ts'

export type { YamlLocation } from './yaml/locations.ts'

export { readYaml, type Yaml } from './yaml/reader.ts'

/** Longer texts are read in a process of their own: of the worst, which are errors from end to end, 65,536 characters take half a second, and these a tenth of what a request may wait. */
export const SHORT_CHARS = 4_096
const LIMIT_MS = 10_000
// .ts from source, .js from a build
const PARSER = new URL(`./yaml/parser${extname(import.meta.filename)}`, import.meta.url).href

/**
 * Reads YAML as `readYaml` does, texts of more than `short_chars` in a process of their own, which gets 10 s for it, since a busy machine is no fault of a text. `yaml` is the address of the package.
 * Throws GuardError INVALID_YAML, or PARSER_UNAVAILABLE where it is not the text that is at fault.
 */
export const readLongYaml = async (
  yaml: string,
  text: string,
  { short_chars = SHORT_CHARS, ...options }: YamlLimits & { readonly short_chars?: number } = {},
  limit_ms = LIMIT_MS,
): Promise<Yaml> => {
  if (text.length <= short_chars) return readYaml((await import(yaml)) as YamlModule, text, options)
  const request: YamlText = { yaml, text, options }
  const answer = await parserProcess
    .parse<YamlText, YamlAnswer>(PARSER, request, { kind: 'yaml', long: true, chars: text.length, limit_ms })
    .catch((error: unknown) => {
      throw error instanceof ParserProcessError ? unread(error, limit_ms) : error
    })
  if ('refusal' in answer) throw new GuardError('INVALID_YAML', answer.refusal, answer.place)
  const { value, places } = answer
  return { value, locate: (path) => locationIn(places, path) }
}

const unread = ({ failure, message }: ParserProcessError, limit_ms: number): GuardError => {
  if (failure === 'timeout')
    return new GuardError('INVALID_YAML', `The text takes longer than ${limit_ms / 1000} s to read. Make it shorter.`)
  if (failure === 'died')
    return new GuardError('INVALID_YAML', `The text was not read: ${message}. Make it shorter, or try again.`)
  const advice = failure === 'unavailable' ? 'Let the gateway start processes' : 'Try again in a moment'
  return new GuardError('PARSER_UNAVAILABLE', `The text was not read: ${message}. ${advice}.`)
}

type YamlPackage = typeof import('yaml')
type Path = readonly (string | number)[]

/** One change of a text: only what it names is written anew, so that comments and the rest stand as they are. */
export type YamlEdit =
  | { readonly replace: Path; readonly with: unknown }
  /** At the end of the list at a path. */
  | { readonly append: Path; readonly value: unknown; readonly comment?: string }
  /** A further member of the map at a path. */
  | { readonly add: Path; readonly key: string; readonly value: unknown }

/** A place in the text and what comes there. */
interface Splice {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** The text with some changes; what is appended to one list keeps its order. Throws INVALID_YAML for a path that leads nowhere. */
export const editYaml = (yaml: YamlPackage, text: string, edits: readonly YamlEdit[]): string => {
  const doc = yaml.parseDocument(text, { version: '1.2', merge: false })
  const splices = edits.map((edit) => spliceOf(yaml, doc, text, edit))
  return splices
    .map((splice, order) => ({ ...splice, order }))
    .toSorted((one, other) => other.from - one.from || other.order - one.order)
    .reduce((edited, { from, to, text: words }) => edited.slice(0, from) + words + edited.slice(to), text)
}

const spliceOf = (yaml: YamlPackage, doc: Document, text: string, edit: YamlEdit): Splice => {
  if ('replace' in edit) {
    const [from, to] = rangeOf(nodeAt(yaml, doc, edit.replace), edit.replace)
    return { from, to, text: flowText(yaml, edit.with) }
  }
  if ('append' in edit) {
    const node = nodeAt(yaml, doc, edit.append)
    if (!yaml.isSeq(node)) throw noPlace(edit.append)
    return appended(yaml, text, node as YAMLSeq<Node>, edit)
  }
  const node = nodeAt(yaml, doc, edit.add)
  if (!yaml.isMap(node)) throw noPlace(edit.add)
  return added(yaml, text, node as YAMLMap<Node, Node>, edit)
}

const nodeAt = (yaml: YamlPackage, doc: Document, path: Path): Node => {
  const node: unknown = doc.getIn(path, true)
  if (!yaml.isNode(node) || yaml.isAlias(node)) throw noPlace(path)
  return node
}

const noPlace = (path: Path): GuardError =>
  new GuardError(
    'INVALID_YAML',
    `The text has no place of its own at ${path.join('/')}, so it cannot be changed there.`,
  )

const rangeOf = (node: Node | null | undefined, path: Path): readonly [from: number, to: number] => {
  const range = node?.range
  if (range === null || range === undefined) throw noPlace(path)
  return [range[0], range[1]]
}

const OPTIONS = { lineWidth: 0, doubleQuotedAsJSON: true }

/** A value on one line, as it stands in a list on one line. */
const flowText = (yaml: YamlPackage, value: unknown): string => {
  const doc = new yaml.Document([value], { aliasDuplicateObjects: false })
  if (yaml.isCollection(doc.contents)) doc.contents.flow = true
  // between the brackets, each with a blank, and before the line break
  return doc.toString(OPTIONS).slice(2, -3)
}

/** A value as a block, its rules' lists on one line. */
const blockLines = (yaml: YamlPackage, value: unknown): readonly string[] => {
  const doc = new yaml.Document(value, { aliasDuplicateObjects: false })
  if (yaml.isMap(doc.contents)) for (const pair of doc.contents.items) flowScalars(yaml, pair.value)
  return doc.toString(OPTIONS).trimEnd().split('\n')
}

/** Lists of words, and the options of one thing, stand on one line. */
const flowScalars = (yaml: YamlPackage, node: unknown): void => {
  if (!yaml.isCollection(node)) return
  const maps: readonly YAMLMap[] = (node.items as unknown[]).filter((item) => yaml.isMap(item))
  if (!yaml.isSeq(node) || maps.length === 0) node.flow = true
  for (const value of maps.flatMap((map) => map.items.map((pair) => pair.value)))
    if (yaml.isCollection(value)) value.flow = true
}

/** The end of the line that a value ends on, behind its comment. */
const endOfLine = (text: string, at: number): number => {
  if (at > 0 && text[at - 1] === '\n') return at - 1
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}

const appended = (
  yaml: YamlPackage,
  text: string,
  node: YAMLSeq<Node>,
  { append, value, comment }: Extract<YamlEdit, { append: Path }>,
): Splice => {
  const [from, to] = rangeOf(node, append)
  const last = node.items.at(-1)
  if (node.flow === true || last === undefined) {
    const at = text.lastIndexOf(']', to)
    if (at < from) throw noPlace(append)
    return { from: at, to: at, text: `${last === undefined ? '' : ', '}${flowText(yaml, value)}` }
  }
  const [first] = rangeOf(node.items[0], append)
  const dash = text.lastIndexOf('-', first)
  const indent = ' '.repeat(dash - text.lastIndexOf('\n', dash) - 1)
  const [, end] = rangeOf(last, append)
  const at = endOfLine(text, end)
  const isLong = typeof value === 'object' && value !== null && Object.keys(value).length > 3
  const lines = isLong ? blockLines(yaml, value) : [flowText(yaml, value)]
  const above = comment === undefined ? [] : [`${indent}# ${comment}`]
  const block = lines.map((line, index) => `${indent}${index === 0 ? '- ' : '  '}${line}`)
  return { from: at, to: at, text: ['', ...above, ...block].join('\n') }
}

const added = (
  yaml: YamlPackage,
  text: string,
  node: YAMLMap<Node, Node>,
  { add, key, value }: Extract<YamlEdit, { add: Path }>,
): Splice => {
  const [from, to] = rangeOf(node, add)
  const member = `${flowText(yaml, key)}: ${flowText(yaml, value)}`
  const [first] = node.items
  if (node.flow === true || first === undefined) {
    const at = text.lastIndexOf('}', to)
    if (at < from) throw noPlace(add)
    return { from: at, to: at, text: `${first === undefined ? '' : ', '}${member} ` }
  }
  const [start] = rangeOf(first.key, add)
  const column = start - text.lastIndexOf('\n', start) - 1
  // after the first member, whose line is the one that is sure to end within the map
  const [, end] = rangeOf(first.value, add)
  const at = endOfLine(text, end)
  return { from: at, to: at, text: `\n${' '.repeat(column)}${member}` }
}
