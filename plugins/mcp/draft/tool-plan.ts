import { wordsOf } from '../policy/lints/powerful.ts'
import { type ArgumentUse, argumentUses, hasTooMany } from './argument-uses.ts'
import { type DraftedTool, isPlainArgument } from './drafted-tool.ts'
import { type Reading, readingOf } from './reading.ts'
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
