import type { ToolCall, Turn } from 'guard-gateway/core'
import { anyGlob } from '#lib/glob'
import { changes, lastPart, wordsOf } from './tools/effect.ts'

export { changes, effectOf, effectOfName, resultOfCall, whilePending } from './tools/effect.ts'

/** A change that was made within so many turns before is the same change again. */
const REACH = 24

/** Whether a turn changed something that no turn shortly before it changed likewise; `mutating` names further tools that do. */
export const isNewChange = (turns: readonly Turn[], index: number, mutating?: (tool: string) => boolean): boolean => {
  for (const { key, tool, effect, error } of turns[index]?.calls ?? []) {
    if (error || !(changes(effect) || mutating?.(tool) === true)) continue
    if (!isMadeBefore(turns, index, key)) return true
  }
  return false
}

/** Whether another call of a turn brought a result that it did not bring shortly before: something else has changed. */
export const isNewElsewhere = (turns: readonly Turn[], index: number, key: string): boolean =>
  turns[index]?.calls.some((call) => call.key !== key && isNewResult(turns, index, call)) === true

const isNewResult = (turns: readonly Turn[], index: number, { tool, result, error }: ToolCall): boolean => {
  if (result === null || error) return false
  for (let earlier = index - 1; earlier >= 0 && earlier >= index - REACH; earlier--)
    if (turns[earlier]?.calls.some((other) => other.tool === tool && other.result === result)) return false
  return true
}

const isMadeBefore = (turns: readonly Turn[], index: number, key: string): boolean => {
  for (let earlier = index - 1; earlier >= 0 && earlier >= index - REACH; earlier--) {
    const turn = turns[earlier]
    if (turn !== undefined && callOf(turn, key) !== undefined) return true
  }
  return false
}

/** Verdicts that one matcher remembers; clients have tens of tools. */
const REMEMBERED = 1024

/**
 * Tells by the name of a tool whether one of these patterns means it. Case does not count, and neither does how words are joined:
 * `edit*` means `Edit`, `MultiEdit`, `str_replace_editor`, `edit-file` and `mcp__files__edit_file`. A pattern fits the whole name, or, if
 * it is not qualified itself, its last part from any of its words to the end. `*` stands for any characters. Only patterns hold stars: a name is taken as it is.
 */
export const toolMatcher = (patterns: readonly string[]): ((tool: string) => boolean) => {
  const whole = anyGlob(patterns.map((pattern) => pattern.toLowerCase()))
  const byWords = anyGlob(patterns.map(inWords).filter((pattern) => pattern !== ''))
  const matches = (tool: string): boolean => {
    return whole(tool.toLowerCase()) || endings(wordsOf(lastPart(tool))).some(byWords)
  }
  const verdicts = new Map<string, boolean>()
  return (tool) => {
    const known = verdicts.get(tool)
    if (known !== undefined) return known
    const verdict = matches(tool)
    if (verdicts.size === REMEMBERED) verdicts.clear()
    verdicts.set(tool, verdict)
    return verdict
  }
}

/** A pattern with its words joined alike, its stars where they are; empty if it has no words, or is qualified itself. */
const inWords = (pattern: string): string => {
  if (wordsOf(pattern).length === 0 || lastPart(pattern) !== pattern) return ''
  const pieces = pattern.split('*').map((piece) => wordsOf(piece).join('_'))
  return pieces.join('*')
}

/** `multi_edit` and `edit` of the words multi, edit. */
const endings = (words: readonly string[]): readonly string[] => words.map((_, first) => words.slice(first).join('_'))

/** Arguments in which a model describes what a call is for, without case, `_` and `-`. Nothing that a tool does depends on them. */
const names: ReadonlySet<string> = new Set([
  // Claude Code's Bash, Gemini CLI's run_shell_command
  'description',
  // Codex: update_plan, exec_command
  'explanation',
  'justification',
  // Gemini CLI: replace
  'instruction',
  // agents that think within a call
  'thought',
  'thoughts',
  'thinking',
  'reason',
  'reasoning',
  'rationale',
  'analysis',
  'purpose',
  'intent',
  'reflection',
  'comment',
])

/** Whether a member of this name is prose beside what a call does. */
export const isProse = (name: string): boolean => names.has(name.replace(/[_-]/g, '').toLowerCase())

/** The canonical arguments without prose; undefined where there is no prose among them, or nothing else. */
export const withoutProse = (args: string): string | undefined => {
  if (!args.startsWith('{') || !mayHold.test(args)) return undefined
  let value: Readonly<Record<string, unknown>>
  try {
    value = JSON.parse(args) as Readonly<Record<string, unknown>>
  } catch {
    return undefined
  }
  const members = Object.entries(value)
  const rest = members.filter(([name]) => !isProse(name))
  if (rest.length === members.length || rest.length === 0) return undefined
  return JSON.stringify(rest)
}

const mayHold = /"(?:desc|expl|just|inst|th|reas|rat|anal|purp|inte|refl|comm)[\w-]{0,20}":/i

/** Up to so many are looked through one by one. */
const FEW = 8

/** The call of this key in a turn. */
export const callOf = ({ calls }: Turn, key: string): ToolCall | undefined => {
  if (calls.length > FEW) return withKey(calls, key)
  for (const call of calls) if (call.key === key) return call
}

/** Whether a key is among the keys of a row. */
export const hasKey = (keys: readonly string[], key: string): boolean =>
  keys.length > FEW ? keys[placeOf(keys, key, itself)] === key : keys.includes(key)

const withKey = (calls: readonly ToolCall[], key: string): ToolCall | undefined => {
  const call = calls[placeOf(calls, key, keyOf)]
  return call?.key === key ? call : undefined
}

const keyOf = (call: ToolCall): string => call.key
const itself = (key: string): string => key

/** Place of the first that is not before `key`. A turn may hold as many calls as fit into a body, and each is looked for in others. */
const placeOf = <T>(sorted: readonly T[], key: string, keyOf: (item: T) => string): number => {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    const item = sorted[middle]
    if (item !== undefined && keyOf(item) < key) low = middle + 1
    else high = middle
  }
  return low
}
