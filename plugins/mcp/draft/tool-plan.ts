import { wordsOf } from '../policy/lints/powerful.ts'
import { type ArgumentUse, argumentUses, hasTooMany } from './argument-uses.ts'
import { type DraftedTool, isPlainArgument } from './drafted-tool.ts'
import { propertiesOf } from './schema-parts.ts'

/** What kind of rule a tool goes to. */
export type PlanKind = 'reads' | 'said_to_read' | 'opens' | 'runs' | 'queries' | 'changes' | 'unjudged'

/** What a draft makes of one tool. */
export interface ToolPlan {
  readonly tool: DraftedTool
  readonly kind: PlanKind
  readonly reading: Reading
  readonly uses: readonly ArgumentUse[]
  readonly action: 'allow' | 'confirm'
  /** Arguments that may be given; undefined where a person is asked, who sees all of them. */
  readonly only: readonly string[] | undefined
  /** Arguments that reach out, that no check can judge and that may be missing: left out of `only`. */
  readonly leftOut: readonly string[]
}

/** Decides what rule a tool gets. Nothing is allowed for what its server says alone, or with an argument that no check can judge. */
export const planOf = (tool: DraftedTool): ToolPlan => {
  const reading = readingOf(tool)
  const uses = argumentUses(tool)
  const kind = kindOf(tool, reading, uses)
  if (kind === 'changes' || kind === 'said_to_read' || kind === 'unjudged')
    return { ...{ tool, kind, reading, uses }, action: 'confirm', only: undefined, leftOut: [] }
  const leftOut = [...new Set(uses.filter(({ fit }) => fit === 'none').map(({ name }) => name))]
  const names = Object.keys(propertiesOf(tool.inputSchema) ?? {}).filter(isPlainArgument)
  const only = names.filter((name) => !leftOut.includes(name))
  return { ...{ tool, kind, reading, uses }, action: 'allow', only, leftOut }
}

const OPENS = new Set(['navigate', 'goto', 'open', 'visit', 'browse', 'crawl', 'scrape', 'fetch', 'download'])

const kindOf = (tool: DraftedTool, { kind }: Reading, uses: readonly ArgumentUse[]): PlanKind => {
  const has = (fit: ArgumentUse['fit']): boolean => uses.some((use) => use.fit === fit)
  const names = propertiesOf(tool.inputSchema)
  // what cannot be left out of a call cannot be left unjudged
  const isUnjudged = uses.some((use) => use.fit === 'none' && (!use.isOptional || !isPlainArgument(use.name)))
  if (names === undefined || hasTooMany(tool) || isUnjudged) return kind === 'changes' ? 'changes' : 'unjudged'
  if (has('shell')) return 'runs'
  if (has('sql')) return 'queries'
  if (has('http') && wordsOf(tool.name).some((word) => OPENS.has(word))) return 'opens'
  return kind
}

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

const READS =
  words(`get list ls read show view find search describe status log logs reflog diff blame history info inspect count stat stats
  tree snapshot screenshot preview lookup look fetch summary summarize analyze explain head tail grep glob peek`)

const CHANGES =
  words(`add create write edit update set delete remove move rename copy upload save insert put post patch send push commit
  merge rebase reset clean clear checkout stash apply install run exec execute stop kill terminate close drop click type fill press drag
  evaluate eval restart enable disable cancel approve publish deploy clone init pull import subscribe give force unsafe`)

/** First words of a description that speak of reading. */
const READING_VERBS = words(
  'get gets list lists read reads show shows view views find finds search searches return returns retrieve retrieves display displays',
)

/** Whether a tool only reads, and what says so: its name, or nothing but what its server adds to the name. */
interface Reading {
  readonly kind: 'reads' | 'said_to_read' | 'changes'
  /** The words that the conclusion rests on, each with where it stands. */
  readonly evidence: readonly string[]
}

/** Concludes from what a server says of its tool. What it adds to the name can make a tool one that changes, never one that reads. */
const readingOf = ({ name, description, annotations }: DraftedTool): Reading => {
  const named = wordsOf(name)
  const change = named.find((word) => CHANGES.has(word))
  const read = named.find((word) => READS.has(word))
  const { readOnlyHint, destructiveHint } = annotations
  const knownHints = Object.entries({ readOnlyHint, destructiveHint }).filter(([, value]) => value !== undefined)
  const hints =
    knownHints.length === 0 ? [] : [`its server: ${knownHints.map(([hint, value]) => `${hint} ${value}`).join(', ')}`]
  const [first = ''] = wordsOf(description ?? '')
  const described = READING_VERBS.has(first) ? [`its description begins with "${first}"`] : []
  if (change !== undefined) return { kind: 'changes', evidence: [`"${change}" in its name`, ...hints] }
  if (readOnlyHint === false || (destructiveHint === true && readOnlyHint !== true))
    return { kind: 'changes', evidence: hints }
  if (read !== undefined) return { kind: 'reads', evidence: [`"${read}" in its name`, ...hints] }
  if (readOnlyHint === true || described.length > 0) return { kind: 'said_to_read', evidence: [...hints, ...described] }
  return { kind: 'changes', evidence: ['nothing says that it only reads'] }
}
