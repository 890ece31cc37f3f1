import type { Command } from './lex.ts'
import { programName } from './program.ts'

/** Escapes of printf and echo. */
const ESCAPE = /\\(?:n|x([0-9a-f]{1,2})|0?([0-7]{1,3}))/gi

const unescaped = (text: string): string =>
  text.replace(ESCAPE, (_, hex?: string, octal?: string) =>
    String.fromCharCode(hex === undefined ? Number.parseInt(octal ?? '12', 8) : Number.parseInt(hex, 16)),
  )

/** Texts that a command could write to a pipe: its arguments, singly and joined, and its here-documents. */
export const possibleOutput = ({ words: [first, ...rest], inputs }: Command): readonly string[] => {
  if (!/^(?:echo|printf)$/.test(programName(first?.literal ?? ''))) return inputs
  const texts = rest.map(({ text }) => text)
  return [...inputs, ...[...texts, texts.join(' '), texts.slice(1).join('')].map(unescaped)]
}
