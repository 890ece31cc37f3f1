import type { PieceFinding } from 'guard-gateway/lib/mcp-check'
import { removal } from './removal.ts'

/** Letters that terminals and pages do not show, which repeat the letters of ASCII; flags of regions end with one of them. */
const TAGS = /[\u{e0001}\u{e0020}-\u{e007f}]+/gu
const FLAG = /^[\u{e0020}-\u{e007e}]{1,6}\u{e007f}$/u
const BLACK_FLAG = '\u{1f3f4}'
/** One chooses how the character before it looks; several in a row can only say something else. */
const SELECTORS = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{3,}/gu
/** Texts of the web hold single ones. */
const ZERO_WIDTH = /[\u200b-\u200d\u2060-\u2064\u180e\ufeff]{4,}/gu
const OVERRIDES = /[\u202d\u202e]+/gu
const EMBEDDINGS = /[\u202a\u202b\u2066-\u2068]+/gu
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/
/** Sets the clipboard of a terminal. */
const CLIPBOARD = /\u001b\]52;[^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)?/g
const STYLE = /\u001b\[([0-9;]{0,64})m/g
const MAY_HIDE = /[^\0-\u001a\u001c-\u007f]/

/** Characters that people do not see, or see in another order, and that are more than ordinary texts have of them. */
export const hiddenText = (text: string): readonly PieceFinding[] => {
  if (!MAY_HIDE.test(text)) return []
  return [
    ...runs(text, TAGS, 'hidden text', 'tag characters').filter((run) => !isFlag(text, run)),
    ...runs(text, SELECTORS, 'hidden text', 'variation selectors in a row'),
    ...runs(text, ZERO_WIDTH, 'hidden text', 'characters without width in a row'),
    ...runs(text, OVERRIDES, 'reversed text', 'characters that reverse what follows'),
    ...(RIGHT_TO_LEFT.test(text)
      ? []
      : runs(text, EMBEDDINGS, 'reversed text', 'characters that reorder what follows')),
    ...runs(text, CLIPBOARD, 'terminal control', 'a terminal sequence that sets the clipboard'),
    ...concealed(text),
  ]
}

const runs = (text: string, pattern: RegExp, what: string, kind: string): readonly PieceFinding[] =>
  Array.from(text.matchAll(pattern), ({ 0: run, index }) =>
    removal(`hides text: ${kind}`, index, index + run.length, what),
  )

const isFlag = (text: string, { edit }: PieceFinding): boolean => {
  const { start = 0, end = 0 } = edit ?? {}
  return text.slice(Math.max(0, start - BLACK_FLAG.length), start) === BLACK_FLAG && FLAG.test(text.slice(start, end))
}

/** What a terminal is told not to show, to where it is told to show again. */
const concealed = (text: string): readonly PieceFinding[] => {
  const found: PieceFinding[] = []
  let from: number | undefined
  for (const { 0: sequence, 1: words = '', index } of text.matchAll(STYLE)) {
    const codes = styleCodes(words)
    if (from === undefined && codes.lastIndexOf(8) > lastReset(codes)) from = index
    else if (from !== undefined && lastReset(codes) > codes.lastIndexOf(8)) {
      found.push(removal(CONCEALS, from, index + sequence.length, 'hidden text'))
      from = undefined
    }
  }
  return from === undefined ? found : [...found, removal(CONCEALS, from, text.length, 'hidden text')]
}

const CONCEALS = 'hides text: a terminal sequence that conceals what follows'

const lastReset = (codes: readonly number[]): number => Math.max(codes.lastIndexOf(0), codes.lastIndexOf(28))

/** The codes of a sequence without the numbers of colours. */
const styleCodes = (words: string): readonly number[] => {
  const numbers = words.split(';').map(Number)
  const codes: number[] = []
  for (let at = 0; at < numbers.length; at++) {
    const code = numbers[at] ?? 0
    codes.push(code)
    if (code === 38 || code === 48 || code === 58) at += numbers[at + 1] === 2 ? 4 : 2
  }
  return codes
}
