import { wordsOf } from '../policy/lints/powerful.ts'
import type { DraftedTool } from './drafted-tool.ts'

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

const READS =
  words(`get list ls read show view find search describe status log logs reflog diff blame history info inspect count stat stats
  tree snapshot screenshot preview lookup look fetch summary summarize analyze explain head tail grep glob peek`)

const CHANGES =
  words(`add create write edit update set delete remove move rename copy upload save insert put post patch send push commit
  merge rebase reset clean clear checkout stash apply install run exec execute stop kill terminate close drop click type fill press drag
  evaluate eval restart enable disable cancel approve publish deploy clone init pull import subscribe give force unsafe`)

/** First words of a description that speak of reading. */
const SAID = words(
  'get gets list lists read reads show shows view views find finds search searches return returns retrieve retrieves display displays',
)

/** Whether a tool only reads, and what says so: its name, or nothing but what its server adds to the name. */
export interface Reading {
  readonly kind: 'reads' | 'said_to_read' | 'changes'
  /** The words that the conclusion rests on, each with where it stands. */
  readonly evidence: readonly string[]
}

/** Concludes from what a server says of its tool. What it adds to the name can make a tool one that changes, never one that reads. */
export const readingOf = ({ name, description, annotations }: DraftedTool): Reading => {
  const named = wordsOf(name)
  const change = named.find((word) => CHANGES.has(word))
  const read = named.find((word) => READS.has(word))
  const { readOnlyHint, destructiveHint } = annotations
  const given = Object.entries({ readOnlyHint, destructiveHint }).filter(([, value]) => value !== undefined)
  const hints = given.length === 0 ? [] : [`its server: ${given.map(([hint, value]) => `${hint} ${value}`).join(', ')}`]
  const [first = ''] = wordsOf(description ?? '')
  const described = SAID.has(first) ? [`its description begins with "${first}"`] : []
  if (change !== undefined) return { kind: 'changes', evidence: [`"${change}" in its name`, ...hints] }
  if (readOnlyHint === false || (destructiveHint === true && readOnlyHint !== true))
    return { kind: 'changes', evidence: hints }
  if (read !== undefined) return { kind: 'reads', evidence: [`"${read}" in its name`, ...hints] }
  if (readOnlyHint === true || described.length > 0) return { kind: 'said_to_read', evidence: [...hints, ...described] }
  return { kind: 'changes', evidence: ['nothing says that it only reads'] }
}
