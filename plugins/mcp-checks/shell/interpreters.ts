import { subcommandPositions } from './deny-rules.ts'

type Words = readonly (string | undefined)[]

/** Programs that run a file, or code in an option. */
const INTERPRETERS = new Set(
  `python pythonw py pypy ipython bpython jython micropython perl raku ruby irb pry node deno bun php psysh lua luajit tclsh wish rscript
  julia guile gosh racket groovy scala kotlin erl elixir ghc runghc jshell jrunscript bsh swift octave osascript r nodejs ts-node tsx
  clojure clj bb hy coffee qjs janet fennel nim crystal csi sbcl ecl clisp swipl gst ocaml utop sage mongosh mongo rake
  rakudo csharp ccl gprolog matlab maxima d8`.split(/\s+/),
)

/** Options that prevent the interpreter from running code. */
const HARMLESS_OPTIONS = new Set([
  '-m',
  '-V',
  '-v',
  '--version',
  '--help',
  '-h',
  '--test',
  '--check',
  '--import',
  '--watch',
])

/** Options that only change how a file runs, without and with a value. */
const PLAIN: Readonly<Record<string, readonly [alone: RegExp, valued?: RegExp]>> = {
  python: [/^-(?:[bBdEhIOPqsSu]+|[WX].+)$/, /^-[WX]$/],
  node: [
    /^--(?:(?!ev|pri|int)[a-z-]+=.*|(?:inspect|no|trace|enable|use|allow|preserve|experimental(?!-loader|-config-file))(?:-[a-z-]+)?|expose-gc|prof)$/,
    /^(?:-r|--(?:require|env-file|title|conditions|loader|experimental-loader|import))$/,
  ],
  ruby: [/^-(?:[wW][012]?|[Ir].+)$/, /^-[Ir]$/],
  perl: [/^-(?:[cwtT]+|I.+|M[\w:]+)$/, /^-I$/],
  php: [/^-[lmi]$/],
  rake: [/^(?:-(?:[tTPnmqs]|j[0-9]*)|--(?:trace|tasks))$/],
  julia: [/^(?:--(?:project|threads|startup-file|depwarn)(?:=.*)?|-t[0-9]+)$/],
  mongosh: [/^--(?:host|port|nodb|quiet)(?:=.*)?$/],
}

/** Interpreters that accept options after the file. */
const ANYWHERE = new Set(['mongosh', 'mongo', 'swipl', 'octave', 'maxima', 'matlab', 'sbcl', 'ghc', 'erl', 'julia'])

/** Options that run code from an argument or from standard input. */
const TEXT = /^-(?:[A-Za-z]*[ceEp]|-(?:ev|pri|exec).*)?$/
/** Python modules that do so. */
const TEXT_MODULES = /^(?:timeit|pdb|code|asyncio|idlelib)$/
/** File names that mean standard input. */
const READ = /^(?:\/+dev\/+(?:stdin|fd\/.*)|\/+proc\/+.*\/+fd\/.*)$/

/** True if an option could run code. Words after a module belong to that module. */
const takesText = (args: Words): boolean => {
  const module = args.indexOf('-m')
  if (TEXT_MODULES.test(args[module + 1] ?? '') && module !== -1) return true
  const own = module === -1 ? args : args.slice(0, module)
  return subcommandPositions(own).some((at) => TEXT.test(own[at] ?? '') || /^(?:--import=)?data:/.test(own[at] ?? ''))
}

/** The words after harmless options. */
const afterPlainOptions = (program: string, args: Words): Words => {
  const [alone, valued] = PLAIN[program] ?? []
  let at = 0
  for (let word = args[at]; word !== undefined; word = args[at]) {
    if (alone?.test(word) === true) at++
    else if (valued?.test(word) === true) at += 2
    else break
  }
  return args.slice(at)
}

/** True if an interpreter may run code that is not in a file. `args` has undefined for dynamic words. */
export const interprets = (program: string, args: Words): boolean => {
  if (!INTERPRETERS.has(program)) return false
  if (ANYWHERE.has(program) && args.some((word) => TEXT.test(word ?? ''))) return true
  const own = afterPlainOptions(program, args)
  const [first] = own
  // without arguments, rake runs its default task
  if (first === undefined) return own.length > 0 || program !== 'rake'
  if (/^(?:|eval|repl)$/.test(first) || READ.test(first)) return true
  return first.startsWith('-') && (!HARMLESS_OPTIONS.has(first) || takesText(own))
}
