import { DANGEROUS_ASSIGNMENT } from './assignments.ts'
import { runsOthers } from './runners.ts'
import { hasSideEffects } from './side-effects.ts'
import { wraps } from './wrappers.ts'

type Words = readonly (string | undefined)[]

/** Programs whose words become part of what a shell runs; true: those of make, in which a reference in brackets is one to a variable. */
const PASTING: ReadonlyMap<string, boolean> = new Map([
  ...['make', 'bmake', 'pmake', 'remake', 'mingw32-make'].map((name) => [name, true] as const),
  ...['just', 'task', 'rake', 'invoke', 'inv', 'fab', 'doit', 'earthly'].map((name) => [name, false] as const),
])

/** What makes one command of a text two, or hides where it ends, outside of quotes; those themselves must end. */
const outsideQuotes = (text: string): string | undefined => {
  const plain = text.replace(/\\[\s\S]|"(?:\\[\s\S]|[^"\\])*"|'[^']*'/g, '')
  return /["'\\]/.test(plain) ? undefined : plain
}

/** Whether a text that is pasted into a command could be more than words of it. */
const breaksOut = (text: string, isMake: boolean): boolean => {
  if (/[\n\r`]/.test(text) || /\$\$?\(\(|\$\$|[<>]\(/.test(text)) return true
  // a reference of make is no command; what else is in such brackets is
  const substituted = isMake ? text.replace(/\$\([\w.-]+\)|\$\{[\w.-]+\}/g, '') : text
  if (/\$[({]/.test(substituted)) return true
  const plain = outsideQuotes(substituted)
  return plain === undefined || /[;|&<>()]|(?:^|\s)#/.test(plain)
}

const ASSIGNMENT = /^([A-Za-z_.][\w.-]*)\s*[:?+]{0,3}=\s*(.*)$/s

/** Words with which make or its like would run more than what it is named for. `args` holds undefined for what is not known. */
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

/** A value that is a command which runs others. */
const isCommand = (value: string): boolean => {
  const [first, ...rest] = wordsOf(value)
  return first !== undefined && rest.length > 0 && (runsOthers(first, rest) || wraps(first, rest))
}

const TOOLS = ['gcc', 'go', 'rustc']

/** Options for a compiler that make it run something. */
const isFlag = (name: string, value: string): boolean =>
  /FLAGS$|OPTIONS$|OPTS$/.test(name) && TOOLS.some((tool) => hasSideEffects(tool, wordsOf(value)))

/** Variables that makefiles keep the names of programs in. */
const PROGRAMS =
  /^(?:(?:HOST|BUILD|CROSS)?_?(?:CC|CXX|CPP|LD|AR|AS|NM|STRIP|RANLIB|OBJCOPY|OBJDUMP)|FC|F77|RM|CP|MV|LN|MKDIR|INSTALL(?:_\w+)?|SED|AWK|GREP|TAR|CURL|WGET|GIT|SH|BASH|PYTHON\d*|PIP\d*|NODE|NPM|NPX|YARN|PNPM|GO|CARGO|RUSTC|RUBY|PERL|PHP|JAVA|JAVAC|MVN|GRADLE|DOCKER|PODMAN|KUBECTL|HELM|TERRAFORM|CMAKE|NINJA|PYTEST|JEST|ESLINT|TSC|LEX|FLEX|YACC|BISON|\w*TEX|PKG_CONFIG|SUDO|EXEC|RUN|RUNNER|WRAPPER|LAUNCHER|CMD|COMMAND|\w+_(?:CMD|COMMAND|BIN|EXE|EXEC|RUN|RUNNER|WRAPPER|LAUNCHER|TOOL|PROG|PROGRAM))$/i

/** Programs that make is told to build with. */
const TOOLCHAIN =
  /^(?:\/usr\/(?:local\/)?bin\/)?(?:(?:[\w]+-)*(?:gcc|g\+\+|cc|c\+\+|cpp|clang|clang\+\+|tcc|icc|icx|mpicc|mpicxx|ld|ld\.\w+|lld|mold|gold|ar|as|nm|strip|ranlib|objcopy|objdump|gfortran|flang|nasm|yasm)(?:-?[0-9.]+)?|ccache|sccache|distcc|go|cargo|rustc|python[0-9.]*|node|npm|pnpm|yarn|pytest|docker|podman|true|false)$/

/** The commands that words of make name for its variables, but for compilers and the like. Undefined if one of them is not known. */
export const namedPrograms = (program: string, args: Words): readonly Words[] => {
  if (PASTING.get(program) !== true) return []
  return args.flatMap((word) => {
    const [, name = '', value = ''] = ASSIGNMENT.exec(word ?? '') ?? []
    const words = wordsOf(value)
    const [first] = words
    return first === undefined || !PROGRAMS.test(name) || TOOLCHAIN.test(first) ? [] : [words]
  })
}
