import { DANGEROUS_ASSIGNMENT } from './assignments.ts'
import { runsOthers } from './runners.ts'
import { hasSideEffects } from './side-effects.ts'
import { wraps } from './wrappers.ts'

type Words = readonly (string | undefined)[]

/** Programs that paste their words into a shell command. True: make syntax, where `$(…)` refers to a variable. */
const PASTING: ReadonlyMap<string, boolean> = new Map([
  ...['make', 'bmake', 'pmake', 'remake', 'mingw32-make'].map((name) => [name, true] as const),
  ...['just', 'task', 'rake', 'invoke', 'inv', 'fab', 'doit', 'earthly'].map((name) => [name, false] as const),
])

/** The text outside of quotes. Undefined if quotes are open at the end. */
const outsideQuotes = (text: string): string | undefined => {
  const plain = text.replace(/\\[\s\S]|"(?:\\[\s\S]|[^"\\])*"|'[^']*'/g, '')
  return /["'\\]/.test(plain) ? undefined : plain
}

/** True if a pasted text could be more than words of the command. */
const breaksOut = (text: string, isMake: boolean): boolean => {
  if (/[\n\r`]/.test(text) || /\$\$?\(\(|\$\$|[<>]\(/.test(text)) return true
  // a variable reference of make is no command substitution
  const substituted = isMake ? text.replace(/\$\([\w.-]+\)|\$\{[\w.-]+\}/g, '') : text
  if (/\$[({]/.test(substituted)) return true
  const plain = outsideQuotes(substituted)
  return plain === undefined || /[;|&<>()]|(?:^|\s)#/.test(plain)
}

const ASSIGNMENT = /^([A-Za-z_.][\w.-]*)\s*[:?+]{0,3}=\s*(.*)$/s

/** True if words make a task runner run other commands than its tasks. `args` has undefined for dynamic words. */
export const injectsCommands = (program: string, args: Words): boolean => {
  const isMake = PASTING.get(program)
  if (isMake === undefined) return false
  return args.some((word) => {
    if (word === undefined) return false
    if (breaksOut(word, isMake)) return true
    const [, name, value = ''] = ASSIGNMENT.exec(word) ?? []
    return name !== undefined && (DANGEROUS_ASSIGNMENT.test(`${name}=`) || isCommand(value) || isFlag(name, value))
  })
}

const wordsOf = (text: string): readonly string[] =>
  [...text.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) => word.replace(/["']/g, ''))

/** True if a value is a command that runs others. */
const isCommand = (value: string): boolean => {
  const [first, ...rest] = wordsOf(value)
  return first !== undefined && rest.length > 0 && (runsOthers(first, rest) || wraps(first, rest))
}

const TOOLS = ['gcc', 'go', 'rustc']

/** True if a value has compiler options that run something. */
const isFlag = (name: string, value: string): boolean =>
  /FLAGS$|OPTIONS$|OPTS$/.test(name) && TOOLS.some((tool) => hasSideEffects(tool, wordsOf(value)))

/** Makefile variables for programs. */
const PROGRAMS =
  /^(?:(?:HOST|BUILD|CROSS)?_?(?:CC|CXX|CPP|LD|AR|AS|NM|STRIP|RANLIB|OBJCOPY|OBJDUMP)|FC|F77|RM|CP|MV|LN|MKDIR|INSTALL(?:_\w+)?|SED|AWK|GREP|TAR|CURL|WGET|GIT|SH|BASH|PYTHON\d*|PIP\d*|NODE|NPM|NPX|YARN|PNPM|GO|CARGO|RUSTC|RUBY|PERL|PHP|JAVA|JAVAC|MVN|GRADLE|DOCKER|PODMAN|KUBECTL|HELM|TERRAFORM|CMAKE|NINJA|PYTEST|JEST|ESLINT|TSC|LEX|FLEX|YACC|BISON|\w*TEX|PKG_CONFIG|SUDO|EXEC|RUN|RUNNER|WRAPPER|LAUNCHER|CMD|COMMAND|\w+_(?:CMD|COMMAND|BIN|EXE|EXEC|RUN|RUNNER|WRAPPER|LAUNCHER|TOOL|PROG|PROGRAM))$/i

/** Programs of a usual toolchain. */
const TOOLCHAIN =
  /^(?:\/usr\/(?:local\/)?bin\/)?(?:(?:[\w]+-)*(?:gcc|g\+\+|cc|c\+\+|cpp|clang|clang\+\+|tcc|icc|icx|mpicc|mpicxx|ld|ld\.\w+|lld|mold|gold|ar|as|nm|strip|ranlib|objcopy|objdump|gfortran|flang|nasm|yasm)(?:-?[0-9.]+)?|ccache|sccache|distcc|go|cargo|rustc|python[0-9.]*|node|npm|pnpm|yarn|pytest|docker|podman|true|false)$/

/** The commands in make variables for programs, except usual toolchains. */
export const namedPrograms = (program: string, args: Words): readonly Words[] => {
  if (PASTING.get(program) !== true) return []
  return args.flatMap((word) => {
    const [, name = '', value = ''] = ASSIGNMENT.exec(word ?? '') ?? []
    const words = wordsOf(value)
    const [first] = words
    return first === undefined || !PROGRAMS.test(name) || TOOLCHAIN.test(first) ? [] : [words]
  })
}
