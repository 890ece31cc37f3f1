import type { Command } from './lex.ts'
import { programName } from './program.ts'

/** Escapes that printf and echo turn into a character. */
const ESCAPE = /\\(?:n|x([0-9a-f]{1,2})|0?([0-7]{1,3}))/gi

const unescaped = (text: string): string =>
  text.replace(ESCAPE, (_, hex?: string, octal?: string) =>
    String.fromCharCode(hex === undefined ? Number.parseInt(octal ?? '12', 8) : Number.parseInt(hex, 16)),
  )

/** What a command could hand to another one of what its text shows: what it is given to print, each part alone and all of them, and here-documents. */
export const possibleOutput = ({ words: [first, ...rest], inputs }: Command): readonly string[] => {
  if (!/^(?:echo|printf)$/.test(programName(first?.literal ?? ''))) return inputs
  const texts = rest.map(({ text }) => text)
  return [...inputs, ...[...texts, texts.join(' '), texts.slice(1).join('')].map(unescaped)]
}
