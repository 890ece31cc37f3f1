import { passwordOptions } from './commands.ts'
import { type Level, Levels } from './names.ts'
import { isOdd } from './placeholders.ts'

/** The header field names, option names and member names that stand in arrays. */
const FIELD_NAME = /^[A-Za-z][\w-]{0,63}$/
const OPTION = /^--?[A-Za-z][\w.-]{0,63}$/
/** A value that could as well be one more name of a list of names. */
const couldBeName = (value: unknown): boolean => typeof value !== 'string' || (FIELD_NAME.test(value) && !isOdd(value))

/** A program may stand behind `sudo`, `docker` and the like. */
const MAX_BEFORE_PROGRAM = 8

/** Judges whether an element is a name whose value follows it. */
type Judge = (name: string) => Level

const levelOfElement = (list: readonly unknown[], at: number, levelOf: Judge): Level => {
  const name = list[at]
  return typeof name === 'string' && FIELD_NAME.test(name) ? levelOf(name) : Levels.none
}

/** The level of the option an argument stands behind: `--password`, `x`. */
const optionLevel = (list: readonly unknown[], at: number, levelOf: Judge): Level => {
  const option = list[at - 1]
  const value = list[at]
  const follows =
    typeof option === 'string' && OPTION.test(option) && typeof value === 'string' && !value.startsWith('--')
  return follows ? levelOf(option) : Levels.none
}

/** Name, value, name, value …: every name looks like one and some value does not, so that a list of names is none. */
const alternates = (list: readonly unknown[]): boolean => {
  if (list.length === 0 || list.length % 2 !== 0) return false
  let hasValues = false
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at]
    if (typeof name !== 'string' || !FIELD_NAME.test(name)) return false
    hasValues ||= !couldBeName(list[at + 1]) || typeof list[at + 1] !== 'string'
  }
  return hasValues
}

/** For each element how far the one before it makes it a secret; undefined if none does. `pair`: the list is an entry of a list of pairs. */
export const listLevels = (list: readonly unknown[], pair: boolean, levelOf: Judge): readonly Level[] | undefined => {
  const commanded = commandLevels(list)
  if (commanded !== undefined) return commanded
  if (!list.some((element) => typeof element === 'string' && levelOf(element) !== Levels.none)) return undefined
  const paired = (pair && list.length === 2) || alternates(list)
  const levels = list.map((_element, at): Level => {
    const option = optionLevel(list, at, levelOf)
    return option === Levels.none && paired && at % 2 === 1 ? levelOfElement(list, at - 1, levelOf) : option
  })
  return levels.some((level) => level !== Levels.none) ? levels : undefined
}

/** The levels of the arguments of a program that takes its password as an option of one letter. */
const commandLevels = (list: readonly unknown[]): readonly Level[] | undefined => {
  const at = list.slice(0, MAX_BEFORE_PROGRAM).findIndex((part) => typeof part === 'string' && isProgram(part))
  const options = at === -1 ? undefined : passwordOptions(String(list[at]))
  if (options === undefined) return undefined
  const isPassword = (element: unknown, index: number): boolean => {
    if (index <= at || typeof element !== 'string') return false
    const before = list[index - 1]
    if (typeof before === 'string' && /^-[A-Za-z]$/.test(before) && options.apart.includes(before.charAt(1)))
      return true
    return element.length > 2 && element.startsWith('-') && options.joined.includes(element.charAt(1))
  }
  const levels = list.map((element, index) => (isPassword(element, index) ? Levels.password : Levels.none))
  return levels.some((level) => level !== Levels.none) ? levels : undefined
}

const isProgram = (part: string): boolean => part.length < 64 && passwordOptions(part) !== undefined

/** Every element is a list of two whose first is a text: the entries of a map or of headers. */
export const isListOfPairs = (list: readonly unknown[]): boolean =>
  list.length > 0 && list.every((entry) => Array.isArray(entry) && entry.length === 2 && typeof entry[0] === 'string')

const NAMES = new Set(['name', 'key', 'header', 'id', 'label', 'parameterkey', 'field', 'title'])
const VALUES = new Set(['value', 'values', 'val', 'parametervalue'])

/** The level of the name that a `{ name, value }` object holds for its value. */
export const pairLevel = (
  object: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  levelOf: Judge,
): Level => {
  if (!keys.some((key) => VALUES.has(key.toLowerCase()))) return Levels.none
  let level: Level = Levels.none
  for (const key of keys)
    if (level === Levels.none && NAMES.has(key.toLowerCase()) && typeof object[key] === 'string')
      level = levelOf(String(object[key]))
  return level
}

/** The member holds the value of a `{ name, value }` object. */
export const isPairValue = (key: string): boolean => VALUES.has(key.toLowerCase())
