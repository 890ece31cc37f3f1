type Words = readonly (string | undefined)[]

/**
 * A part of an expression. Within square brackets the mark that ends the expression is a plain character to sed,
 * so that none may be there. Every alternative starts with characters of its own: there is one way to read a text.
 */
const expression = (mark: string): string => {
  const plain = String.raw`(?!${mark})[^\[\]\\\n]`
  const item = String.raw`\[[:.=](?:${plain})*\]|\[(?![:.=])|${plain}|\\[^]`
  return String.raw`(?:(?!${mark})(?:\[(?:\^|(?!\^))(?:\]|(?!\]))(?:${item})*\]|[^\[\\\n])|\\[^])*`
}

/** Marks around an expression that need a backslash before the first one, as patterns. */
const MARKS = [',', '#', '@', '%', '!', String.raw`\|`]
const FOUND = [`/${expression('/')}/`, ...MARKS.map((mark) => String.raw`\\${mark}${expression(mark)}${mark}`)].join(
  '|',
)
const ADDRESS = String.raw`(?:[0-9]+(?:~[0-9]+)?|\$|(?:${FOUND})I?)`
const LINES = `(?:${ADDRESS}(?:,[ ]*(?:${ADDRESS}|[+~][0-9]+))?[ ]*!?[ ]*)?`

/** A substitution with any mark around its parts, and flags that run and write nothing. */
const SUBSTITUTION = String.raw`s([^\sA-Za-z0-9\\\[\]])${expression(String.raw`\1`)}\1(?:(?!\1)[^\\\n]|\\[^])*\1[gpiIm0-9]*`
const TRANSLITERATION = String.raw`y/(?:[^/\\\n]|\\.)*/(?:[^/\\\n]|\\.)*/`
const TEXT = String.raw`[aic]\\?[^\n]*`

/** One command of a sed script, of those that stay within its lines. */
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

/** The script among plain words, which follows an empty one that belongs to -i. */
const leading = (plain: Words): Words => plain.slice(0, plain[0] === '' ? 2 : 1)

/** Whether a sed script could run a command or write a file. */
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

/** A script in a file; or the option that some take for one with a value, and others for one without. */
const FILE = /^(?:-[^-efil]*[fl]|--[fl])/
const APART = /^(?:-[^-efil]*e|--e[a-z]*)$/
const ATTACHED = /^(?:-[^-efil]*e|--e[a-z]*=)/

/** Commands of psql, and what makes them run a program or write to one, in the rest of their line. */
const PSQL: readonly (readonly [command: RegExp, rest: RegExp])[] = [
  [/\\(?:o|out|g|gx|w|write)\b/i, /\|/],
  [/\\copy\b/i, /\bprogram\b/i],
  [/\\[a-z]/i, /`/],
]

/** Whether a line of what psql reads could run a command. */
export const psqlHasSideEffects = (text: string): boolean =>
  text.split('\n').some((line) =>
    PSQL.some(([command, rest]) => {
      const at = line.search(command)
      return at !== -1 && rest.test(line.slice(at))
    }),
  )
