import { isSubcommand } from './npm.ts'
import { programName } from './program.ts'

type Words = readonly (string | undefined)[]

/** Long forms of letters that many programs share. */
const LONG: Readonly<Record<string, string>> = { r: '--recursive', f: '--force' }

/**
 * True if a command matches a denied entry: the same program, the entry's plain words at the subcommand, and the
 * entry's options anywhere, in any order and cluster. A dynamic word matches everything.
 */
export const matchesDenyEntry = (words: Words, entry: readonly string[]): boolean => {
  const [first] = words
  const program = programName(first ?? '')
  if (first === undefined || !fits(program, programName(entry[0] ?? ''))) return false
  const args = words.slice(1)
  const expected = entry.slice(1)
  const plain = expected.filter((word) => !word.startsWith('-'))
  const options = expected.filter((word) => word.startsWith('-'))
  return (
    options.every((option) => hasOption(args, option) || (program === 'git' && forces(args, option))) &&
    (plain.length === 0 || hasPlain(program, args, plain))
  )
}

/** True if the `+` of a git refspec has the effect of `--force`. */
const forces = (args: Words, option: string): boolean =>
  /^(?:-f|--force)$/.test(option) && args.some((word) => word !== undefined && /^\+./.test(word))

const hasOption = (args: Words, option: string): boolean =>
  args.some((word) => word === undefined || fits(word, option)) ||
  (/^-[A-Za-z]+$/.test(option) && [...option.slice(1)].every((letter) => hasLetter(args, letter))) ||
  (option.startsWith('--') && args.some((word) => word !== undefined && isLong(word, option)))

const hasLetter = (args: Words, letter: string): boolean => {
  const long = LONG[letter.toLowerCase()]
  // -R and -r both mean recursion
  const same = letter === 'r' || letter === 'R' ? /^-[A-Za-z]*[rR]/ : new RegExp(`^-[A-Za-z]*${letter}`)
  return args.some((word) => word !== undefined && (same.test(word) || (long !== undefined && isLong(word, long))))
}

/** The option itself, with a value, abbreviated, or as its letter. */
const isLong = (word: string, option: string): boolean => {
  const [name = ''] = word.split('=', 1)
  if (name.length > 4 && option.startsWith(name)) return true
  const letter = Object.keys(LONG).find((one) => LONG[one] === option)
  return letter !== undefined && new RegExp(`^-[A-Za-z]*${letter}`).test(word)
}

/** Possible positions of the first plain word. Each option before it may or may not take a value. */
export const subcommandPositions = (args: Words): readonly number[] => {
  const starts = new Set([0])
  for (const at of starts) {
    const word = args[at]
    if (word?.startsWith('-') !== true) continue
    starts.add(at + 1)
    if (!word.includes('=')) starts.add(at + 2)
  }
  return [...starts]
}

/** True if the plain words follow in this order, with any options before them. */
const hasPlain = (program: string, args: Words, plain: readonly string[]): boolean =>
  subcommandPositions(args).some((at) => follow(program, args.slice(at), plain))

const follow = (program: string, args: Words, plain: readonly string[]): boolean => {
  const own = args.filter((word) => word === undefined || !word.startsWith('-'))
  return plain.every((expected, index) => {
    if (index >= own.length) return false
    const word = own[index]
    return (
      word === undefined || fits(word, expected) || (program === 'npm' && index === 0 && isSubcommand(word, expected))
    )
  })
}

/**
 * True if a word matches an entry. An asterisk matches any characters. A trailing `:*` also matches the empty text,
 * as users expect from a prefix.
 */
const fits = (word: string, expected: string): boolean => {
  const [head = '', ...rest] = expected.split('*')
  const tail = rest.pop()
  if (tail === undefined) return word === expected
  if (expected.endsWith(':*') && word === expected.slice(0, -2)) return true
  const end = word.length - tail.length
  if (!word.startsWith(head) || !word.endsWith(tail)) return false
  let at = head.length
  for (const part of rest) {
    const found = word.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return at <= end
}
