import { styleText } from 'node:util'
import type { Input, Io } from '#lib/command'

/** Green: allow and ok; yellow: flag; red: block and error; dim: other. */
export type Colour = 'green' | 'yellow' | 'red' | 'dim'

/** Colours text on a terminal; returns it unchanged elsewhere. */
export const painter = (
  input: Pick<Input, 'options'>,
  io: Pick<Io, 'out' | 'env'>,
): ((text: string, colour: Colour) => string) => {
  if (!showsColours(io.out, input, io)) return (text) => text
  return (text, colour) => styleText(colour, text, { validateStream: false })
}

/** Colour of a status or decision; undefined for neutral ones. */
export const colourOf = (word: string): Colour | undefined => colours.get(word.trim())

/** A word of a status or decision in its colour, blanks around it included. */
export const paintedWord = (word: string, paint: (text: string, colour: Colour) => string): string => {
  const colour = colourOf(word)
  return colour === undefined ? word : paint(word, colour)
}

const colours: ReadonlyMap<string, Colour> = new Map<string, Colour>([
  ['ok', 'green'],
  ['allow', 'green'],
  ['allowed', 'green'],
  ['running', 'dim'],
  ['cancelled', 'dim'],
  ['expired', 'dim'],
  ['silent', 'dim'],
  ['paused', 'yellow'],
  ['pending', 'yellow'],
  ['loop', 'yellow'],
  ['shadow_flag', 'yellow'],
  ['shadow_deny', 'yellow'],
  ['confirm', 'yellow'],
  ['transform', 'yellow'],
  ['error', 'red'],
  ['timeout', 'red'],
  ['blocked', 'red'],
  ['policy_block', 'red'],
  ['block', 'red'],
  ['denied', 'red'],
  ['deny', 'red'],
  ['rate_limit', 'red'],
])

/** Whether what is written to a stream is seen in colour: on a terminal, or where FORCE_COLOR says so, unless something switches it off. */
export const showsColours = (
  stream: NodeJS.WritableStream,
  { options }: Pick<Input, 'options'>,
  { env }: Pick<Io, 'env'>,
): boolean => {
  const { NO_COLOR, FORCE_COLOR = '', TERM } = env
  if (options.color === false || options.json === true || NO_COLOR || ['0', 'false'].includes(FORCE_COLOR)) return false
  return FORCE_COLOR !== '' || ('isTTY' in stream && stream.isTTY === true && TERM !== 'dumb')
}
