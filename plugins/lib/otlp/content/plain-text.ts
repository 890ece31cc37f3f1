import { isJsonObject } from '#lib/json'

/** The longest text, in UTF-16 units, that is kept under an unknown name. */
const PLAIN_CHARS = 64
/** The same of an identifier or a label. */
const LABEL_CHARS = 256
/** Numbers of a list: more are a vector or tokens, from which text can be made again. */
const MAX_NUMBERS = 32

const LINE_BREAK = /[\n\r\u2028\u2029]/
/** An object or a list in JSON or as a program prints it, whole or within other text. */
const DATA = /[[{]\s*["'[{]|\{\s*[\w$-]+\s*[:=]|\[\s*-?\d+\s*,|^\s*[[{].*[\]}]\s*$/s
/** Options, pipes, redirections and substitutions. */
const COMMAND_LINE = /(?:^|\s)--?(?!Infinity$)[A-Za-z][\w-]*|&&|\|\||\s\|\s|\$\(|`|\s\d?>{1,2}\s|;\s*\w+\s/

/** A word that can be none of these, as most texts are. */
const WORD = /^[\w.:/@+]+$/

/** Whether a text is one line that holds no object, no list and no command line. */
const isPlainLine = (text: string): boolean =>
  WORD.test(text) || !(LINE_BREAK.test(text) || DATA.test(text) || COMMAND_LINE.test(text))

/** A short text that looks like neither content nor a command. */
export const isPlain = (text: string): boolean => text.length <= PLAIN_CHARS && isPlainLine(text)

/** A single word, long enough for ids. */
export const isIdentifier = (text: string): boolean =>
  text.length <= LABEL_CHARS && !/\s/.test(text) && isPlainLine(text)

/** One line; what is in it is known to be harmless. */
export const isLabel = (text: string): boolean => text.length <= LABEL_CHARS && !LINE_BREAK.test(text)

/** Numbers and booleans alone, under names of single words. */
export const isCounts = (value: unknown, depth = 0): boolean => {
  if (value === null || ['number', 'bigint', 'boolean'].includes(typeof value)) return true
  if (Array.isArray(value)) return value.length <= MAX_NUMBERS && value.every((part) => isCounts(part, depth + 1))
  if (!isJsonObject(value) || depth > 2) return false
  return Object.entries(value).every(([name, part]) => /^[\w.:-]{1,64}$/.test(name) && isCounts(part, depth + 1))
}

/** The same as JSON text. */
export const isCountsText = (text: string): boolean => {
  if (text.length > 4_096) return false
  try {
    return isCounts(JSON.parse(text))
  } catch {
    return false
  }
}

const ERROR_NAME = /^(?:[1-5]\d\d|[A-Za-z_.]*(?:Error|Exception|Timeout|Failure)|E[A-Z]{4,})\b/

/** What an error says, if that is short and plain; else the status or class it starts with, which says why without repeating what was said. */
export const errorText = (text: string): string => {
  if (isPlain(text)) return text
  const name = ERROR_NAME.exec(text.slice(0, LABEL_CHARS))?.[0]
  return name === undefined ? `error text of ${text.length} characters, not kept` : `${name} …`
}

/** A span's or event's name; of one that is a text, data or a command its first word. */
export const nameText = (name: string): string => {
  if (name.length <= LABEL_CHARS / 2 && isPlainLine(name)) return name
  const first = /^\s*([\w.:/-]{1,64})(?=\s|$)/.exec(name)?.[1]
  return first === undefined ? 'unnamed' : `${first} …`
}

/** An address without its query. */
export const addressText = (url: string): string => url.replace(/[?#].*$/s, '')
