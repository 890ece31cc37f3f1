import type { ToolEffect } from 'guard-gateway/core'
import { effectOfCommand, isSilence, isTaskOutput, isView } from './commands.ts'
import { acting, editing, general, looking, named, posting, waiting } from './verbs.ts'
import { lastPart, wordsOf } from './words.ts'

/** Whether a call changes something. */
export const changes = (effect: ToolEffect | null): boolean => effect === 'edit' || effect === 'act'

/** The effect of a call whose result says that a command still runs. */
export const whilePending = (effect: ToolEffect | null): ToolEffect | null => (changes(effect) ? effect : 'wait')

/** What a name says by itself, and what its arguments may add. */
interface NameEffect {
  readonly effect: ToolEffect | null
  readonly inArguments: 'command' | 'view' | 'input' | null
}

const REMEMBERED = 4096

const known = new Map<string, NameEffect>()

/** The effect of a call by its tool's name and its canonical arguments. */
export const effectOf = (tool: string, args: string): ToolEffect | null => {
  const { effect, inArguments } = byName(tool)
  if (inArguments === null) return effect === 'look' && isTaskOutput(args) ? 'wait' : effect
  if (inArguments === 'command') return effectOfCommand(args)
  if (inArguments === 'view') return isView(args) ? 'look' : effect
  return isSilence(args) ? 'wait' : effectOfCommand(args)
}

/** The effect of a call whose arguments are not known. */
export const effectOfName = (tool: string): ToolEffect | null => byName(tool).effect

const byName = (tool: string): NameEffect => {
  const remembered = known.get(tool)
  if (remembered !== undefined) return remembered
  const read = readName(tool)
  if (known.size === REMEMBERED) known.clear()
  known.set(tool, read)
  return read
}

const readName = (tool: string): NameEffect => {
  const words = wordsOf(lastPart(tool))
  const whole = words.join('')
  if (named.has(whole)) {
    const effect = named.get(whole) ?? null
    return { effect, inArguments: effect === null ? 'input' : null }
  }
  const effect = byWords(words)
  if (effect === 'general') return { effect: null, inArguments: 'command' }
  return { effect, inArguments: effect === 'edit' && words.includes('editor') ? 'view' : null }
}

/** The first word that says something decides. */
const byWords = (words: readonly string[]): ToolEffect | 'general' | null => {
  for (const [at, word] of words.entries()) {
    if (editing.has(word)) return 'edit'
    if (acting.has(word)) return 'act'
    if (waiting.has(word)) return 'wait'
    if (looking.has(word)) return effectAfterLookVerb(words.slice(at + 1))
    if (general.has(word)) return 'general'
  }
  return words.some((word) => posting.has(word)) ? 'edit' : null
}

/** `get_job_status` waits, and `SearchReplace` edits. */
const effectAfterLookVerb = (words: readonly string[]): ToolEffect => {
  if (words.includes('replace')) return 'edit'
  return words.some((word) => waiting.has(word)) ? 'wait' : 'look'
}
