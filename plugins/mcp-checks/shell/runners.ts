import { actsOn } from './acting.ts'
import { reached } from './denied.ts'
import { programName } from './program.ts'
import { STEERING } from './steering.ts'

/** Programs and built-ins whose work is to run another command, or a text as one, in ways that its words do not tell. */
const RUNNERS = new Set(
  `sh ash bash dash zsh ksh mksh fish csh tcsh rbash busybox toybox sudo doas su runuser pkexec setpriv chroot unshare nsenter
  script expect watch parallel sem locate exec eval source . command builtin
  read unset declare typeset local readonly export getopts let fc jobs catchsegv
  coproc trap alias enable hash bind complete compgen mapfile readarray ssh ssh-agent mosh rsh lxc machinectl systemd-run systemctl
  at batch crontab flock gdb lldb strace ltrace valgrind perf vi vim nvim ex ed emacs nano less more man tmux screen
  powershell pwsh cmd cscript wscript mshta rundll32 regsvr32 open start xdg-open ld.so ld-linux.so.2 ld-linux-x86-64.so.2
  run-parts start-stop-daemon daemonize socat nc ncat netcat entr fzf rlwrap unbuffer wsl nix-shell direnv dotenv mise asdf volta
  nodenv rbenv pyenv flatpak-spawn firejail proot fakeroot dbus-run-session xvfb-run capsh choom prlimit numactl logsave aa-exec setarch
  linux32 linux64 i386 x86_64 cpulimit torsocks torify proxychains proxychains4 faketime ghci gnuplot dc m4 bpftrace
  noglob nocorrect repeat foreach sched emulate view rview rvim gvim vimdiff pico lftp ftp telnet xterm sg newgrp
  if then else elif do while until for case select function`.split(/\s+/),
)

/** Programs that run the rest of their own words. */
const WRAPPERS = new Set(
  'env nohup setsid nice ionice chrt taskset timeout time stdbuf caffeinate xargs npx bunx uvx pipx corepack'.split(
    ' ',
  ),
)

/** Package managers and their subcommands that run the rest of their own words. */
const PACKAGED: Readonly<Record<string, RegExp>> = {
  npm: /^(?:exec|x|explore)$/,
  pnpm: /^(?:exec|dlx)$/,
  yarn: /^(?:exec|dlx)$/,
  bun: /^x$/,
  bundle: /^exec$/,
  pipenv: /^run$/,
  poetry: /^run$/,
  conda: /^run$/,
  uv: /^run$/,
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
}

/** Programs that run a file, or a text given in an option. */
const INTERPRETERS =
  /^(?:python|pypy|perl|ruby|irb|node|nodejs|deno|bun|php|lua|luajit|tclsh|wish|rscript|julia|guile|racket|groovy|scala|erl|elixir|ghc|runghc|jshell|swift|octave|osascript|r|ts-node|tsx|clojure|clj|bb)[0-9.]*$/

/** Options after which an interpreter runs no text of its caller. */
const HARMLESS = new Set(['-m', '-V', '-v', '--version', '--help', '-h', '--test', '--check', '--import', '--watch'])

/** Subcommands of programs that start containers, with which they start nothing that their words do not tell. */
const CONTAINERS = new Set(['docker', 'podman', 'nerdctl', 'kubectl', 'docker-compose'])
const LOOKING = new Set(
  `ps images logs inspect build pull push version info network volume stop restart rm rmi tag top stats port up down ls config events
  get describe apply explain rollout scale delete wait api-resources cluster-info diff`.split(/\s+/),
)

/** Options with which interpreters run a text of their caller, or what they read. */
const TEXT = /^-(?:[A-Za-z]*[ceEp]|-(?:ev|pri).*)?$/
/** Modules that do. */
const TEXT_MODULES = /^(?:timeit|pdb|code|asyncio|idlelib)$/

type Words = readonly (string | undefined)[]

/** Whether an option that an interpreter could take runs a text; what stands behind a module is for that. */
const takesText = (args: Words): boolean => {
  const module = args.indexOf('-m')
  if (TEXT_MODULES.test(args[module + 1] ?? '') && module !== -1) return true
  const own = module === -1 ? args : args.slice(0, module)
  return reached(own).some((at) => TEXT.test(own[at] ?? '') || /^(?:--import=)?data:/.test(own[at] ?? ''))
}

/** Whether a command may run others that its text does not show. `args` holds undefined for what is not known before it runs. */
export const runsOthers = (program: string, args: Words): boolean => {
  if (RUNNERS.has(program) || actsOn(program, args)) return true
  if (CONTAINERS.has(program)) return !looks(args)
  if (!INTERPRETERS.test(program)) return false
  const [first] = args
  if (first === undefined || first === '' || first === 'eval') return true
  return first.startsWith('-') && (!HARMLESS.has(first) || takesText(args))
}

/** Options before a subcommand that say where it works, and nothing else. */
const PLACE = /^(?:-n|--(?:namespace|context))(?:=|$)/

const looks = (args: Words): boolean => {
  let at = 0
  for (let word = args[at] ?? ''; PLACE.test(word); word = args[at] ?? '') at += word.includes('=') ? 1 : 2
  const subcommand = args[at] === 'compose' ? firstPlain(args.slice(at + 1)) : args[at]
  return LOOKING.has(subcommand ?? '')
}

const firstPlain = (args: Words): string | undefined => {
  const at = args.findIndex((word) => word !== '-f' && word?.startsWith('-') !== true)
  return args[at - 1] === '-f' ? args[at + 1] : args[at]
}

/** Whether a program runs the rest of its words as a command, or has a subcommand that does. */
export const canWrap = (program: string): boolean => WRAPPERS.has(program) || Object.hasOwn(PACKAGED, program)

/** Whether a program runs the rest of its words as a command. */
export const wraps = (program: string, args: Words): boolean =>
  WRAPPERS.has(program) ||
  (Object.hasOwn(PACKAGED, program) && reached(args).some((at) => PACKAGED[program]?.test(args[at] ?? '') === true))

/** Whether an option of a wrapper holds a text that is a whole command. */
const holdsCommand = (args: Words, at: number): boolean => {
  const [, option, attached] = /^(-[A-Za-z]*[Sc]|--(?:sp|ca)[a-z-]*)(.*)$/s.exec(args[at] ?? '') ?? []
  if (option === undefined) return false
  return (attached !== '' && !/^-[A-Za-z]*c/.test(option)) || !/^[\w./@:=,+-]*$/.test(args[at + 1] ?? '')
}

/** Words behind which it is not looked for what a wrapper runs: every one could begin it. */
const MAX_WORDS = 100

/** Whether what a wrapper might run stands in its words. */
export const tellsWrapped = (program: string, args: Words): boolean => {
  if (args.length > MAX_WORDS) return false
  if (args.some((word, at) => word === undefined || STEERING.test(word) || holdsCommand(args, at))) return false
  return program !== 'xargs' || (args.length > 0 && !args.some((_, at) => isWrapper(args.slice(at))))
}

/** Every command that a wrapper might run, from every word on: what options take a value need not be known. */
export const wrapped = (program: string, args: Words): readonly Words[] => {
  // words that come in from outside follow the last one
  const given = program === 'xargs' ? [...args, undefined] : args
  return args.map((_, at) => given.slice(at)).filter(([first]) => first !== '.')
}

const isWrapper = ([first, ...args]: Words): boolean => first !== undefined && wraps(programName(first), args)
