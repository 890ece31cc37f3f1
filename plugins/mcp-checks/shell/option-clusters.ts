type Words = readonly (string | undefined)[]

/** An option letter and its value. Undefined: no value, or a dynamic one. */
export type Letter = readonly [letter: string, value: string | undefined]

/** The letters of all clusters before `--`. `valued`: letters that take the rest of their word or the next word as value. */
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

/** The words before `--`. */
const ownOf = (args: Words): Words => {
  const end = args.indexOf('--')
  return end === -1 ? args : args.slice(0, end)
}

/** The values of options: `--name value`, `--name=value`, `-n value`, `-nvalue`. `shortened`: names can be abbreviated. */
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

/** Names with two dashes can be abbreviated. Names with one dash can have two. */
const isNamed = (name: string, option: string, shortened: boolean): boolean => {
  if (!option.startsWith('--')) return name.replace(/^--/, '-') === option
  return name === option || (shortened && name.length > 3 && option.startsWith(name))
}
