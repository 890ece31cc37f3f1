import { shortSha256 } from '#lib/ids'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

const BETWEEN = ','

/** What a text is known by for as long as a conversation is remembered: 48 bits, hex. */
export const textHash = (text: string): string => shortSha256(text).slice(0, 12)

/**
 * Marks of turns as letters, a group a turn with commas between, so that a row can keep which of them are equal: the first is A, the
 * next other one B. Behind 62 different ones they are left out.
 */
export const lettersOf = (turns: readonly (readonly string[])[]): string => {
  const known = new Map<string, string>()
  const letterOf = (mark: string): string => {
    const letter = known.get(mark) ?? alphabet.charAt(known.size)
    if (letter !== '') known.set(mark, letter)
    return letter
  }
  return turns.map((marks) => [...new Set(marks)].map(letterOf).join('')).join(BETWEEN)
}

/** The groups of `lettersOf`, oldest turn first; none of anything else. */
export const lettersIn = (measure: unknown): readonly string[] =>
  typeof measure === 'string' ? measure.split(BETWEEN) : []

/** What is said of one letter: how many steps back the turns are that hold it, newest first. */
export interface LetterCount {
  readonly letter: string
  readonly steps: readonly number[]
}

/**
 * Counts each letter of the last turn in the last `reach` turns. `ends` is asked of turns without the letter, by their steps back:
 * whether nothing before them counts.
 */
export const letterCounts = (
  groups: readonly string[],
  reach: number,
  ends: (back: number) => boolean,
): readonly LetterCount[] =>
  [...(groups.at(-1) ?? '')].map((letter) => {
    const steps: number[] = []
    for (let back = 0; back < Math.min(reach, groups.length); back++) {
      if (groups[groups.length - 1 - back]?.includes(letter) === true) steps.push(back)
      else if (ends(back)) break
    }
    return { letter, steps }
  })

/** Remembers the marks of one more turn, of at most so many. */
export const rememberTextHashes = (turns: (readonly string[])[], marks: readonly string[], most: number): void => {
  turns.push(marks)
  if (turns.length > most) turns.shift()
}
