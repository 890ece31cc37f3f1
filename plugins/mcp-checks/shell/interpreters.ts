import { subcommandPositions } from './deny-rules.ts'

type Words = readonly (string | undefined)[]

/** Programs that run a file, or a text given in an option. */
const INTERPRETERS = new Set(
  `python pythonw py pypy ipython bpython jython micropython perl raku ruby irb pry node deno bun php psysh lua luajit tclsh wish rscript
  julia guile gosh racket groovy scala kotlin erl elixir ghc runghc jshell jrunscript bsh swift octave osascript r nodejs ts-node tsx
  clojure clj bb hy coffee qjs janet fennel nim crystal csi sbcl ecl clisp swipl gst ocaml utop sage mongosh mongo rake
  rakudo csharp ccl gprolog matlab maxima d8`.split(/\s+/),
)

/** Options after which an interpreter runs no text of its caller. */
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

/** Options of the most common ones that say how a file is run, alone and with the next word. */
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

/** Interpreters whose options may be after what they run or open. */
const ANYWHERE = new Set(['mongosh', 'mongo', 'swipl', 'octave', 'maxima', 'matlab', 'sbcl', 'ghc', 'erl', 'julia'])

/** Options with which interpreters run a text of their caller, or what they read. */
const TEXT = /^-(?:[A-Za-z]*[ceEp]|-(?:ev|pri|exec).*)?$/
/** Modules that do. */
const TEXT_MODULES = /^(?:timeit|pdb|code|asyncio|idlelib)$/
/** What an interpreter reads, by the name of a file. */
const READ = /^(?:\/+dev\/+(?:stdin|fd\/.*)|\/+proc\/+.*\/+fd\/.*)$/

/** Whether an option that an interpreter could take runs a text; what is after a module is for that. */
const takesText = (args: Words): boolean => {
  const module = args.indexOf('-m')
  if (TEXT_MODULES.test(args[module + 1] ?? '') && module !== -1) return true
  const own = module === -1 ? args : args.slice(0, module)
  return subcommandPositions(own).some((at) => TEXT.test(own[at] ?? '') || /^(?:--import=)?data:/.test(own[at] ?? ''))
}

/** What follows options that only say how a file is run. */
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

/** Whether an interpreter may run a text that is not a file. `args` holds undefined for what is not known before it runs. */
export const interprets = (program: string, args: Words): boolean => {
  if (!INTERPRETERS.has(program)) return false
  if (ANYWHERE.has(program) && args.some((word) => TEXT.test(word ?? ''))) return true
  const own = afterPlainOptions(program, args)
  const [first] = own
  // rake alone runs what its file names
  if (first === undefined) return own.length > 0 || program !== 'rake'
  if (/^(?:|eval|repl)$/.test(first) || READ.test(first)) return true
  return first.startsWith('-') && (!HARMLESS_OPTIONS.has(first) || takesText(own))
}
