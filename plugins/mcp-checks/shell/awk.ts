type Words = readonly (string | undefined)[]

/** What runs a command, reads from one or loads code. */
const AWK = /system\s*\(|(?<!\|)\|(?!\|)|\bgetline\b|@|\bclose\s*\(/

/** Whether a mark stands outside of all brackets that open before it. Inside of them it compares. */
const isOutside = (text: string, mark: string): boolean => {
  let depth = 0
  for (const one of text) {
    if (one === mark && depth <= 0) return true
    if (one === '(') depth++
    if (one === ')') depth--
  }
  return false
}

/** Whether a statement of a program prints to a file. */
const printsToFile = (code: string): boolean =>
  code.split(/[;}]/).some((statement) => {
    const print = statement.search(/\bprintf?\b/)
    return print !== -1 && isOutside(statement.slice(print), '>')
  })

/** Texts, comments and continued lines, each from where it starts. */
const TEXT = /"(?:[^"\\\n]|\\.)*"/sy
const COMMENT = /#[^\n]*/y
const CONTINUED = /\\\r?\n/y
const EXPRESSION = /\/((?:[^/\\\n]|\\[^\n])+)\//y

/** An expression in which no slash could be within square brackets. */
const CLEAR = /^(?:[^[\]\\]|\\[^[\]]|\[\^?(?:\[:[a-z]+:\]|[^[\]\\]|\\[^[\]])+\])*$/
/** Code after which a slash starts an expression, and after which it divides. */
const BEGINS = /(?:^|[({},;!~?:=<>&|\n])[ \t]*$/
const DIVIDES = /(?:\b(?!(?:print|printf|return|in|getline|case|delete|else|do|exit|length)[ \t]*$)\w+|[\]"])[ \t]*$/

/** Where errors are told. */
const SHOWN = /^"\/dev\/std(?:err|out)"(?=[ \t]*(?:[;}\n]|$))/

/**
 * A program without what is only text in it: strings, comments and expressions. Undefined if it is not clear where
 * one ends, or whether a slash starts one.
 */
const codeOf = (program: string): string | undefined => {
  const parts: string[] = []
  let before = ''
  for (let at = 0; at < program.length; ) {
    const found = partAt(program, at, before)
    if (found === undefined) return undefined
    if (SHOWN.test(program.slice(at, at + 64))) while (/^[> \t]$/.test(parts.at(-1) ?? '')) parts.pop()
    const part = found.stands ?? program[at] ?? ''
    parts.push(part)
    before = (before + part).slice(-64)
    at += found.length
  }
  return parts.join('')
}

interface Part {
  readonly length: number
  /** What stands for it; itself if nothing does. */
  readonly stands?: string
}

const lengthOf = (pattern: RegExp, program: string, at: number): number => {
  pattern.lastIndex = at
  return pattern.exec(program)?.[0].length ?? 0
}

const partAt = (program: string, at: number, before: string): Part | undefined => {
  const one = program[at]
  if (one === '#') return { length: lengthOf(COMMENT, program, at), stands: '' }
  if (one === '/') return slash(program, at, before)
  if (one !== '"' && one !== '\\') return { length: 1 }
  const length = lengthOf(one === '"' ? TEXT : CONTINUED, program, at)
  return length === 0 ? undefined : { length, stands: one === '"' ? '""' : ' ' }
}

const slash = (program: string, at: number, before: string): Part | undefined => {
  if (DIVIDES.test(before)) return { length: 1 }
  EXPRESSION.lastIndex = at
  const found = EXPRESSION.exec(program)
  if (found === null || !BEGINS.test(before) || !CLEAR.test(found[1] ?? '')) return undefined
  return { length: found[0].length, stands: '""' }
}

/** Options with which awk loads and writes nothing; what `APART_IN_AWK` finds takes the next word, too. */
const AWK_OPTION =
  /^(?:-[Fv].*|-[bcCghkMnNOPrsStV]+|--(?:csv|version|posix|traditional|sandbox|re-interval)|--(?:assign|field-separator)=.*)$/s
const APART_IN_AWK = /^-[Fv]$/

/** Whether an awk program could run a command or write a file. Behind the program stand files alone. */
export const awkHasSideEffects = (args: Words): boolean => {
  let at = 0
  for (let word = args[at]; word?.startsWith('-') === true && word !== '--'; word = args[at]) {
    if (!AWK_OPTION.test(word)) return true
    at += APART_IN_AWK.test(word) ? 2 : 1
  }
  const program = args[at] === '--' ? args[at + 1] : args[at]
  if (program === undefined) return at < args.length
  const code = codeOf(program) ?? program
  return AWK.test(code) || printsToFile(code)
}
