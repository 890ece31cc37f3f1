import { type View, ViewBuilder } from './view.ts'

/**
 * Escape sequences of terminals (ECMA-48, xterm), as they are or as written by `cat -v`, JSON and programs:
 * control sequences with their parameters, choices of a character set, other escapes. A colour may have lost its escape.
 */
const SEQUENCE =
  /(?:[\u001b\u241b]|\^\[|\\{1,8}(?:u001b|u\{1b\}|x1b|0?33|e))(?:\[[0-?]{0,64}[ -/]{0,4}[@-~]|[()][AB0-2])|\u009b[0-?]{0,64}[ -/]{0,4}[@-~]|\[[\d;:]{1,64}m|\u001b[ -/]{0,4}[0-~]?/gi

const ESCAPE = 0x1b
const CONTROL_SEQUENCE = 0x9b
const SYMBOL_FOR_ESCAPE = 0x241b

/** A control that begins a sequence. */
export const beginsSequence = (unit: number): boolean =>
  unit === ESCAPE || unit === CONTROL_SEQUENCE || unit === SYMBOL_FOR_ESCAPE

/** What can stand before the bracket of a sequence as written: `\u001b`, `\033`, `\e`, `\u{1b}`, `^[`. */
const WRITTEN = new Set(Array.from('bB3eE}[', (character) => character.charCodeAt(0)))
const COLOUR = /\[[\d;:]{1,64}m/y

/** The bracket at `at` may belong to a sequence whose escape is written out or lost. */
export const maySequence = (text: string, at: number): boolean => {
  const next = text.charCodeAt(at + 1)
  // Parameters begin with 0 to 9, colon, semicolon or question mark; without any, a letter ends the sequence.
  if (next >= 0x30 && next <= 0x3f) {
    COLOUR.lastIndex = at
    if (COLOUR.test(text)) return true
  } else if (next < 0x40 || next > 0x7e) return false
  return WRITTEN.has(text.charCodeAt(at - 1))
}

/** A whole command to the operating system, such as the address of a link, which stands in no word. */
const COMMAND =
  /(?:\u001b|\\{1,8}(?:u001b|x1b|0?33|e))\][^\u0007\u001b\\]{0,2048}(?:\u0007|\u001b\\|\\{1,8}(?:u0007|x07|0?07|a|u001b\\{1,8}|x1b\\{1,8}|0?33\\{1,8}|e\\{1,8}))/gi

const JOINED = new RegExp(`${COMMAND.source}|${SEQUENCE.source}`, 'gi')

const viewOf = (text: string, pattern: RegExp, meaning: string): View | undefined => {
  const builder = new ViewBuilder(text)
  for (const { index, 0: sequence } of text.matchAll(pattern)) builder.replace(index, sequence.length, meaning)
  return builder.view()
}

/** `text` with its sequences as blanks, so that words end at them, and without them, so that none goes through a word. */
export const terminalViews = (text: string): readonly View[] => {
  const divided = viewOf(text, SEQUENCE, ' ')
  if (divided === undefined) return []
  const joined = viewOf(text, JOINED, '')
  return joined === undefined ? [divided] : [divided, joined]
}
