type Words = readonly (string | undefined)[]

/** Code that runs a command, reads from one or loads code. */
const AWK = /system\s*\(|(?<!\|)\|(?!\|)|\bgetline\b|@|\bclose\s*\(/

/** True if the mark occurs outside of brackets. Inside of brackets it is a comparison. */
const isOutside = (text: string, mark: string): boolean => {
  let depth = 0
  for (const one of text) {
    if (one === mark && depth <= 0) return true
    if (one === '(') depth++
    if (one === ')') depth--
  }
  return false
}

/** True if a statement prints to a file. */
const printsToFile = (code: string): boolean =>
  code.split(/[;}]/).some((statement) => {
    const print = statement.search(/\bprintf?\b/)
    return print !== -1 && isOutside(statement.slice(print), '>')
  })

/** Patterns for strings, comments and continued lines. */
const TEXT = /"(?:[^"\\\n]|\\.)*"/sy
const COMMENT = /#[^\n]*/y
const CONTINUED = /\\\r?\n/y
const EXPRESSION = /\/((?:[^/\\\n]|\\[^\n])+)\//y

/** A regular expression without a slash in square brackets. */
const CLEAR = /^(?:[^[\]\\]|\\[^[\]]|\[\^?(?:\[:[a-z]+:\]|[^[\]\\]|\\[^[\]])+\])*$/
/** Code before a slash that starts a regular expression, and before one that divides. */
const BEGINS = /(?:^|[({},;!~?:=<>&|\n])[ \t]*$/
const DIVIDES = /(?:\b(?!(?:print|printf|return|in|getline|case|delete|else|do|exit|length)[ \t]*$)\w+|[\]"])[ \t]*$/

/** Output to stdout or stderr. */
const STANDARD_OUTPUT = /^"\/dev\/std(?:err|out)"(?=[ \t]*(?:[;}\n]|$))/

/**
 * The program with strings, comments and regular expressions removed. Undefined if the end of one, or the meaning of
 * a slash, is ambiguous.
 */
const codeOf = (program: string): string | undefined => {
  const parts: string[] = []
  let before = ''
  for (let at = 0; at < program.length; ) {
    const found = partAt(program, at, before)
    if (found === undefined) return undefined
    if (STANDARD_OUTPUT.test(program.slice(at, at + 64))) while (/^[> \t]$/.test(parts.at(-1) ?? '')) parts.pop()
    const part = found.stands ?? program[at] ?? ''
    parts.push(part)
    before = (before + part).slice(-64)
    at += found.length
  }
  return parts.join('')
}

interface Part {
  readonly length: number
  /** The replacement. Absent: the part itself. */
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

/** Options that load and write nothing. `APART_IN_AWK` matches those that also take the next word. */
const AWK_OPTION =
  /^(?:-[Fv].*|-[bcCghkMnNOPrsStV]+|--(?:csv|version|posix|traditional|sandbox|re-interval)|--(?:assign|field-separator)=.*)$/s
const APART_IN_AWK = /^-[Fv]$/

/** True if an awk program could run a command or write a file. The words after the program are input files. */
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
