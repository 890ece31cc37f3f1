import { subcommandPositions } from './deny-rules.ts'
import { programName } from './program.ts'

type Words = readonly (string | undefined)[]

/** Programs that run the rest of their words. */
const WRAPPERS = new Set(
  `env nohup setsid nice ionice chrt taskset timeout time stdbuf caffeinate xargs npx bunx pnpx uvx pipx corepack cross-env env-cmd dotenv
  tini dumb-init gosu su-exec bwrap systemd-inhibit multitime sshpass softlimit setlock chpst grc openvt pexec watchexec onchange reflex
  msgfilter nq ts dtach abduco valgrind gnome-terminal konsole alacritty kitty foot wezterm autossh esy orb
  mpirun mpiexec srun`.split(/\s+/),
)

/** Programs with subcommands that run the rest of their words. */
const PACKAGED: Readonly<Record<string, RegExp>> = {
  npm: /^(?:x|exec?|explo(?:re?)?)$/,
  pnpm: /^(?:exec|dlx)$/,
  yarn: /^(?:exec|dlx)$/,
  bun: /^(?:x|run)$/,
  bundle: /^exec$/,
  pipenv: /^run$/,
  poetry: /^run$/,
  conda: /^run$/,
  mamba: /^run$/,
  micromamba: /^run$/,
  uv: /^(?:run|tool)$/,
  hatch: /^run$/,
  pdm: /^run$/,
  rye: /^run$/,
  pixi: /^run$/,
  cmake: /^-E$/,
  ip: /^(?:netns|vrf)$/,
  rustup: /^run$/,
  lerna: /^exec$/,
  composer: /^exec$/,
  gem: /^exec$/,
  mix: /^cmd$/,
  tox: /^exec$/,
  cabal: /^(?:exec|v2-exec)$/,
  stack: /^(?:exec|x)$/,
  opam: /^exec$/,
  dune: /^exec$/,
  nix: /^(?:run|shell|develop)$/,
  guix: /^(?:shell|environment)$/,
  mise: /^(?:x|exec|run|r|en|watch)$/,
  asdf: /^exec$/,
  volta: /^run$/,
  pyenv: /^exec$/,
  rbenv: /^exec$/,
  nodenv: /^exec$/,
  direnv: /^exec$/,
  dotenvx: /^run$/,
  doppler: /^run$/,
  infisical: /^run$/,
  teller: /^run$/,
  railway: /^run$/,
  op: /^run$/,
  'aws-vault': /^exec$/,
  chamber: /^exec$/,
  zellij: /^run$/,
}

/** True if a program, or one of its subcommands, runs the rest of its words as a command. */
export const canWrap = (program: string): boolean => WRAPPERS.has(program) || Object.hasOwn(PACKAGED, program)

/** True if a program runs the rest of its words as a command. */
export const wraps = (program: string, args: Words): boolean =>
  WRAPPERS.has(program) ||
  (Object.hasOwn(PACKAGED, program) &&
    subcommandPositions(args).some((at) => PACKAGED[program]?.test(args[at] ?? '') === true))

/** Programs that pass a word to a shell. */
const SHELLED = new Set([
  'watchexec',
  'onchange',
  'reflex',
  'konsole',
  'gnome-terminal',
  'autossh',
  'dotenv',
  'env-cmd',
  'orb',
])

/** True if an option of a wrapper contains a whole command. */
const holdsCommand = (args: Words, at: number): boolean => {
  const [, option, attached] = /^(-[A-Za-z]*[Sc]|--(?:s(?![a-z])|sp|ca|com)[a-z-]*)(.*)$/s.exec(args[at] ?? '') ?? []
  if (option === undefined) return false
  return (attached !== '' && !/^-[A-Za-z]*c/.test(option)) || !/^[\w./@:=,+-]*$/.test(args[at + 1] ?? '')
}

/** Maximum words of a wrapper. Each word could start the wrapped command, so the cost is quadratic. */
const MAX_WORDS = 100

/** True if the words of a wrapper show every command that it might run. */
export const tellsWrapped = (program: string, args: Words): boolean => {
  if (args.length > MAX_WORDS) return false
  if (args.some((word, at) => word === undefined || DANGEROUS_ASSIGNMENT.test(word) || holdsCommand(args, at)))
    return false
  if (SHELLED.has(program) && args.some((word) => /[\s;&|]/.test(word ?? ''))) return false
  return program !== 'xargs' || (args.length > 0 && !args.some((_, at) => isWrapper(args.slice(at))))
}

/** Shell built-ins. No program can start them, except for Bash's `time`. */
const BUILT_IN = new Set(
  `. source eval exec command builtin read unset declare typeset local readonly export getopts let fc jobs trap alias enable hash bind
  complete compgen mapfile readarray coproc repeat start if then else do while until for case select function`.split(
    /\s+/,
  ),
)

/** Every possible wrapped command: one per start word, because options with values are not known. */
export const wrapped = (program: string, args: Words): readonly Words[] => {
  // xargs input follows the last word
  const argv = program === 'xargs' ? [...args, undefined] : args
  return args
    .map((_, at) => argv.slice(at))
    .filter(([first]) => !BUILT_IN.has(first ?? '') || (program === 'time' && first !== '.'))
}

const isWrapper = ([first, ...args]: Words): boolean => first !== undefined && wraps(programName(first), args)

/** Assignments that only change verbosity, colours, locale or location of a command. */
export const HARMLESS_ASSIGNMENT =
  /^(?:CI|NODE_ENV|DEBUG|VERBOSE|FORCE_COLOR|NO_COLOR|CLICOLOR(?:_FORCE)?|TERM|COLUMNS|LINES|TZ|LANG|LC_[A-Z]+|PORT|RUST_LOG|RUST_BACKTRACE|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|CGO_ENABLED|GOOS|GOARCH)=[\w.:,@+-]*$/

/** Variables that can make a program load or run something else. */
export const DANGEROUS_ASSIGNMENT =
  /^(?:LD_|DYLD_|GIT_|BASH_|PERL5|RUBY(?:OPT|LIB)|PYTHON(?:PATH|STARTUP|HOME)|NODE_(?:OPTIONS|PATH)|JAVA_TOOL|JDK_JAVA|MAKEFLAGS|PATH|IFS|ENV|SHELL|PS4|PROMPT_COMMAND|npm_config_|(?:HOME|LESSOPEN|TAR_OPTIONS)=|GCONV_|XDG_CONFIG|RUST(?:C|DOC|FLAGS)|CARGO_|GOFLAGS|PYTEST_|OPENSSL_|[A-Z_]*(?:PAGER|EDITOR|BROWSER|SSH|ASKPASS)(?:_|\b))/i
