import type { LooseResult, ToolEffect } from 'guard-gateway/core'
import { shortSha256 } from '#lib/ids'
import { effectOfCommand, isSilence, isTaskOutput, isView } from './commands.ts'
import { acting, editing, general, looking, named, operating, posting, waiting } from './verbs.ts'
import { lastPart, wordsOf } from './words.ts'

/** Whether a call changes something. */
export const changes = (effect: ToolEffect | null): boolean => effect === 'edit' || effect === 'act'

/** The effect of a call whose result says that a command still runs. */
export const whilePending = (effect: ToolEffect | null): ToolEffect | null => (changes(effect) ? effect : 'wait')

/** What a name says by itself, and what its arguments may add. */
interface NameEffect {
  readonly effect: ToolEffect | null
  readonly inArguments: 'command' | 'view' | 'input' | 'action' | null
}

/** What the result of a call is known by: a notice of the client, which is worded alike for all calls, is equal only where the call is. */
export const resultOfCall = (key: string, { result, notice }: Pick<LooseResult, 'result' | 'notice'>): string | null =>
  notice && result !== null ? shortSha256(`${key} ${result}`) : result

/** The effect of a call by its tool's name and its canonical arguments. */
export const effectOf = (tool: string, args: string): ToolEffect | null => {
  const { effect, inArguments } = byName(tool)
  if (inArguments === null) return effect === 'look' && isTaskOutput(args) ? 'wait' : effect
  if (inArguments === 'command') return effectOfCommand(args)
  if (inArguments === 'action') return effectOfAction(args)
  if (inArguments === 'view') return isView(args) ? 'look' : effect
  return isSilence(args) ? 'wait' : effectOfCommand(args)
}

const action = /"action":\s?(?:"([\w-]{1,64})"|\{[^{}]{0,1000}?"type":\s?"([\w-]{1,64})")/

/** What a call of a computer or a browser does: it acts, unless it only waits, or takes a picture. */
const effectOfAction = (args: string): ToolEffect => {
  const [, plain, nested] = action.exec(args) ?? []
  const words = wordsOf(plain ?? nested ?? '')
  if (words.some((word) => waiting.has(word))) return 'wait'
  return words.some((word) => pictures.has(word)) ? 'look' : 'act'
}

const pictures: ReadonlySet<string> = new Set(['screenshot', 'snapshot', 'zoom', 'cursor'])

/** The effect of a call whose arguments are not known. */
export const effectOfName = (tool: string): ToolEffect | null => byName(tool).effect

const byName = (tool: string): NameEffect => {
  const words = wordsOf(lastPart(tool))
  const whole = words.join('')
  if (named.has(whole)) {
    const effect = named.get(whole) ?? null
    return { effect, inArguments: effect === null ? 'input' : effect === 'act' ? 'action' : null }
  }
  if (words.some((word) => operating.has(word))) return { effect: 'act', inArguments: 'action' }
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
