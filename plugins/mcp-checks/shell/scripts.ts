type Words = readonly (string | undefined)[]

/**
 * A part of an expression. Within square brackets the mark that ends the expression is a plain character to sed,
 * so that none may stand there. Every alternative begins with characters of its own: there is one way to read a text.
 */
const expression = (mark: string): string => {
  const plain = String.raw`(?!${mark})[^\[\]\\\n]`
  const item = String.raw`\[[:.=](?:${plain})*\]|\[(?![:.=])|${plain}|\\[^]`
  return String.raw`(?:(?!${mark})(?:\[(?:\^|(?!\^))(?:\]|(?!\]))(?:${item})*\]|[^\[\\\n])|\\[^])*`
}

const ADDRESS = String.raw`(?:[0-9]+(?:~[0-9]+)?|\$|/${expression('/')}/I?)`
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
export const sedActs = (args: Words): boolean => {
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

/** What runs a command, reads from one or loads code in awk. */
const AWK = /system\s*\(|(?<!\|)\|(?!\|)|\bgetline\b|@|\bclose\s*\(/

/** Whether a statement of an awk program prints to a file. */
const printsToFile = (program: string): boolean =>
  program.split(/[;}]/).some((statement) => {
    const print = statement.search(/\bprintf?\b/)
    return print !== -1 && statement.includes('>', print)
  })

/** Options with which awk loads and writes nothing; what `APART_IN_AWK` finds takes the next word, too. */
const AWK_OPTION =
  /^(?:-[Fv].*|-[bcCghkMnNOPrsStV]+|--(?:csv|version|posix|traditional|sandbox|re-interval)|--(?:assign|field-separator)=.*)$/s
const APART_IN_AWK = /^-[Fv]$/

/** Whether an awk program could run a command or write a file. Behind the program stand files alone. */
export const awkActs = (args: Words): boolean => {
  let at = 0
  for (let word = args[at]; word?.startsWith('-') === true && word !== '--'; word = args[at]) {
    if (!AWK_OPTION.test(word)) return true
    at += APART_IN_AWK.test(word) ? 2 : 1
  }
  const program = args[at] === '--' ? args[at + 1] : args[at]
  if (program === undefined) return at < args.length
  const marks = withoutTexts(program)
  return AWK.test(marks) || printsToFile(marks)
}

/** An awk program without its strings, in which marks are only text. A slash may begin an expression that holds quotes. */
const withoutTexts = (program: string): string =>
  program.includes('/') ? program : program.replace(AWK_STRING, (text, end: string) => (end === '"' ? '""' : text))

/** A string, or one that does not end, which is passed over in one step: no part of it is tried again. */
const AWK_STRING = /"(?:[^"\\]|\\.)*("|\\?$|\\[\n\r\u2028\u2029])/g

/** Commands of psql, and what makes them run a program or write to one, in the rest of their line. */
const PSQL: readonly (readonly [command: RegExp, rest: RegExp])[] = [
  [/\\(?:o|out|g|gx|w|write)\b/i, /\|/],
  [/\\copy\b/i, /\bprogram\b/i],
  [/\\[a-z]/i, /`/],
]

/** Whether a line of what psql reads could run a command. */
export const psqlActs = (text: string): boolean =>
  text.split('\n').some((line) =>
    PSQL.some(([command, rest]) => {
      const at = line.search(command)
      return at !== -1 && rest.test(line.slice(at))
    }),
  )
