type Words = readonly (string | undefined)[]

/** A letter of a program's options, and the value it was given; undefined: none, or one that is not known. */
export type Letter = readonly [letter: string, value: string | undefined]

/** The letters of all clusters in front of `--`. `valued`: those that take a value, the rest of their word or the next one. */
export const lettersOf = (args: Words, valued: string): readonly Letter[] =>
  ownOf(args).flatMap((word, at) =>
    word !== undefined && /^-[^-]/.test(word) ? lettersIn(word, valued, args[at + 1]) : [],
  )

const lettersIn = (word: string, valued: string, next: string | undefined): readonly Letter[] => {
  const letters = word.slice(1)
  const at = [...letters].findIndex((letter) => valued.includes(letter))
  if (at === -1) return [...letters].map((letter) => [letter, undefined])
  const before = [...letters.slice(0, at)].map((letter): Letter => [letter, undefined])
  return [...before, [letters.charAt(at), letters.slice(at + 1) || next]]
}

/** What is in front of `--`. */
const ownOf = (args: Words): Words => {
  const end = args.indexOf('--')
  return end === -1 ? args : args.slice(0, end)
}

/** The values that options are given, one for each: `--name value`, `--name=value`, `-n value`, `-nvalue`. `shortened`: also by the beginning of a name. */
export const valuesOf = (
  args: Words,
  options: readonly string[],
  shortened: boolean,
): readonly (string | undefined)[] => {
  const own = ownOf(args)
  return own.flatMap((word, at) => options.flatMap((option) => valueIn(word, option, own[at + 1], shortened)))
}

const NONE: readonly undefined[] = []

const valueIn = (
  word: string | undefined,
  option: string,
  next: string | undefined,
  shortened: boolean,
): readonly (string | undefined)[] => {
  if (word?.startsWith('-') !== true) return NONE
  if (option.length === 2) {
    const found = new RegExp(`^-[A-Za-z0-9]*?${option.slice(1)}(.*)$`, 's').exec(word)
    return found === null ? NONE : [found[1]?.replace(/^=/, '') || next]
  }
  const [name = '', ...rest] = word.split('=')
  const value = rest.length > 0 ? rest.join('=') : next
  return isNamed(name, option, shortened) ? [value] : NONE
}

/** Names with two dashes may be shortened; those with one may have two. */
const isNamed = (name: string, option: string, shortened: boolean): boolean => {
  if (!option.startsWith('--')) return name.replace(/^--/, '-') === option
  return name === option || (shortened && name.length > 3 && option.startsWith(name))
}
