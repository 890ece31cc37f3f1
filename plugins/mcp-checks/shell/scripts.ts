type Words = readonly (string | undefined)[]

/**
 * Matches a part of an expression up to `mark`. The mark within square brackets is a literal for sed, so it is
 * excluded there. The alternatives start with distinct characters, so that matching does not backtrack.
 */
const expression = (mark: string): string => {
  const plain = String.raw`(?!${mark})[^\[\]\\\n]`
  const item = String.raw`\[[:.=](?:${plain})*\]|\[(?![:.=])|${plain}|\\[^]`
  return String.raw`(?:(?!${mark})(?:\[(?:\^|(?!\^))(?:\]|(?!\]))(?:${item})*\]|[^\[\\\n])|\\[^])*`
}

/** Delimiters of a regular expression that need a backslash before the first one, as patterns. */
const MARKS = [',', '#', '@', '%', '!', String.raw`\|`]
const FOUND = [`/${expression('/')}/`, ...MARKS.map((mark) => String.raw`\\${mark}${expression(mark)}${mark}`)].join(
  '|',
)
const ADDRESS = String.raw`(?:[0-9]+(?:~[0-9]+)?|\$|(?:${FOUND})I?)`
const LINES = `(?:${ADDRESS}(?:,[ ]*(?:${ADDRESS}|[+~][0-9]+))?[ ]*!?[ ]*)?`

/** A substitution with any delimiter, and only harmless flags. */
const SUBSTITUTION = String.raw`s([^\sA-Za-z0-9\\\[\]])${expression(String.raw`\1`)}\1(?:(?!\1)[^\\\n]|\\[^])*\1[gpiIm0-9]*`
const TRANSLITERATION = String.raw`y/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/`
const TEXT = String.raw`[aic]\\?[^\n]*`

/** One harmless command of a sed script. */
const SED = new RegExp(
  String.raw`[\s;{}]*${LINES}(?:\{|${SUBSTITUTION}|${TRANSLITERATION}|[dDpPgGhHnNxlq=][0-9]*|[tbT:][ ]*[A-Za-z0-9_]*|${TEXT})?[ \t]*(?:[\n;}]+|#[^\n]*|$|(?<=\{))`,
  'y',
)

const isPlainSed = (script: string): boolean => {
  for (let at = 0; at < script.length; ) {
    SED.lastIndex = at
    const length = SED.exec(script)?.[0].length ?? 0
    if (length === 0) return false
    at += length
  }
  return true
}

/** The script among the plain words. An empty word before it belongs to -i. */
const leading = (plain: Words): Words => plain.slice(0, plain[0] === '' ? 2 : 1)

/** True if a sed script could run a command or write a file. */
export const sedHasSideEffects = (args: Words): boolean => {
  const scripts: (string | undefined)[] = []
  const plain: (string | undefined)[] = []
  for (let at = 0; at < args.length; at++) {
    const word = args[at]
    if (word === undefined || !/^-./.test(word)) plain.push(word)
    else if (FILE.test(word)) return true
    else if (APART.test(word)) scripts.push(args[++at])
    else if (ATTACHED.test(word)) scripts.push(word.replace(ATTACHED, ''))
  }
  return (scripts.length > 0 ? scripts : leading(plain)).some((script) => script === undefined || !isPlainSed(script))
}

/** Options that read a script from a file, and -i and -l, which take a value in some versions of sed. */
const FILE = /^(?:-[^-efil]*[fl]|--[fl])/
const APART = /^(?:-[^-efil]*e|--e[a-z]*)$/
const ATTACHED = /^(?:-[^-efil]*e|--e[a-z]*=)/

/** psql commands, and what makes them run or write to a program in the rest of their line. */
const PSQL: readonly (readonly [command: RegExp, rest: RegExp])[] = [
  [/\\(?:o|out|g|gx|w|write)\b/i, /\|/],
  [/\\copy\b/i, /\bprogram\b/i],
  [/\\[a-z]/i, /`/],
]

/** True if a line of psql input could run a command. */
export const psqlHasSideEffects = (text: string): boolean =>
  text.split('\n').some((line) =>
    PSQL.some(([command, rest]) => {
      const at = line.search(command)
      return at !== -1 && rest.test(line.slice(at))
    }),
  )
