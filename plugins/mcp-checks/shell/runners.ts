import { subcommandPositions } from './deny-rules.ts'
import { hasSideEffects } from './side-effects.ts'

type Words = readonly (string | undefined)[]

/** Programs and built-ins that run other commands or code in ways that their words do not show. */
const RUNNERS = new Set(
  `sh ash bash dash zsh ksh mksh fish csh tcsh rbash nu xonsh elvish yash posh sash rc osh oil es busybox toybox
  sudo doas su ksu sg runuser pkexec setpriv chroot unshare nsenter newgrp
  script expect watch parallel sem locate exec eval source . command builtin
  read unset declare typeset local readonly export getopts let fc jobs catchsegv
  coproc trap alias enable hash bind complete compgen mapfile readarray ssh ssh-agent ssh-copy-id mosh et rsh sshuttle lxc incus ctr crictl
  machinectl systemd-run systemctl busctl at batch crontab flock gdb lldb strace ltrace perf vi vim nvim ex ed emacs emacsclient nano less
  more tmux screen powershell pwsh cmd cscript wscript mshta rundll32 regsvr32 open start xdg-open ld.so ld-linux.so.2 ld-linux-x86-64.so.2
  forfiles wmic schtasks msiexec installutil pcalua conhost invoke-expression invoke-command invoke-item start-process start-job
  run-parts run-mailcap start-stop-daemon daemonize socat nc ncat netcat entr fzf rlwrap unbuffer wsl nix-shell
  flatpak-spawn firejail proot fakeroot dbus-run-session xvfb-run capsh choom prlimit numactl logsave aa-exec setarch distrobox toolbox
  linux32 linux64 i386 x86_64 cpulimit torsocks torify proxychains proxychains4 faketime ghci gnuplot dc m4 bpftrace
  noglob nocorrect repeat foreach sched emulate setopt unsetopt zmodload autoload - not and or begin view rview rvim gvim vimdiff pico joe jed mc ranger vifm lynx w3m most lftp ftp smbclient sftp telnet xterm
  hyperfine concurrently cross-env-shell cargo-watch tsc-watch chokidar iex jjs ansible ansible-console salt salt-call pssh pdsh clush sbatch qsub psexec launchctl sqlplus hive beeline impala-shell
  if then else elif do while until for case select function`.split(/\s+/),
)

/** Words with which some of them run nothing. */
const QUIET: Readonly<Record<string, RegExp>> = {
  command: /^-p?[vV] /,
  hash: /^-r$/,
  jobs: /^(?:-[lprs])?$/,
  alias: /^$/,
  watch: /^$/,
  crontab: /^-l$/,
  at: /^-l$/,
  tmux: /^(?:ls|list-(?:sessions|windows|panes))$/,
  screen: /^-ls$/,
  systemctl: /^(?:status|is-(?:active|enabled|failed)|list-[a-z-]+|show|cat)(?: (?!-[HM]|--[hm])\S+)*$/,
  concurrently: /^(?:(?:(?:npm|pnpm|yarn|bun):[\w:*.-]+|-k|--kill-others)(?: |$))+$/,
  iex: /^-S mix(?: |$)/,
}

const isQuiet = (program: string, args: Words): boolean =>
  Object.hasOwn(QUIET, program) && !args.includes(undefined) && QUIET[program]?.test(args.join(' ')) === true

/** Subcommands, some with an option, that run code or a remote command. */
const SUBCOMMANDS: Readonly<Record<string, readonly [subcommand: RegExp, option?: RegExp]>> = {
  sops: [/^exec-/],
  vagrant: [/^ssh$/],
  gcloud: [/^(?:ssh|scp)$/],
  fly: [/^(?:ssh|console|machine)$/],
  flyctl: [/^(?:ssh|console|machine)$/],
  heroku: [/^(?:run|ps:exec|local:run)/],
  eb: [/^ssh$/],
  multipass: [/^(?:exec|shell)$/],
  limactl: [/^shell$/],
  colima: [/^ssh$/],
  flatpak: [/^run$/],
  snap: [/^run$/],
  rails: [/^(?:runner|r|console|c|dbconsole|db)$/],
  mix: [/^(?:run|eval)$/, /^(?:-e|--eval|[^-].*)/],
  dotnet: [/^(?:fsi|script|csi)$/],
  clickhouse: [/^(?:local|client)$/],
  sbt: [/^eval\b/],
  cargo: [/^watch$/, /^(?:-[a-z]*s|--shell)/],
}

const hasSubcommand = (program: string, args: Words): boolean => {
  if (!Object.hasOwn(SUBCOMMANDS, program)) return false
  const [subcommand, option] = SUBCOMMANDS[program] ?? []
  const at = args.findIndex((word) => word === undefined || subcommand?.test(word) === true)
  return at !== -1 && (option === undefined || args.slice(at + 1).some((word) => option.test(word ?? '')))
}

/** True for a request for version or help. */
const isVersionOrHelp = (args: Words): boolean => args.length === 1 && /^--(?:version|help)$/.test(args[0] ?? '')

/** True if a command may run others that its text does not show. `args` has undefined for dynamic words. */
export const runsOthers = (program: string, args: Words): boolean => {
  if (isVersionOrHelp(args)) return false
  if (RUNNERS.has(program)) return !isQuiet(program, args)
  return (
    hasSideEffects(program, args) ||
    contains(program, args) ||
    interprets(program, args) ||
    hasSubcommand(program, args)
  )
}

/** Programs that start containers. */
const CONTAINERS = new Set(['docker', 'podman', 'nerdctl', 'kubectl', 'oc', 'docker-compose'])

/** Subcommands that start nothing hidden. */
const LOOKING = new Set(
  `ps images logs inspect build pull push version info network volume stop restart rm rmi tag top stats port up down ls list config events
  get describe apply explain rollout scale delete wait api-resources api-versions cluster-info diff start kill pause unpause rename history
  search login logout save load import export commit prune df label annotate taint cordon uncordon drain expose patch replace autoscale
  set auth certificate options kustomize port-forward use -v -h --version --help`.split(/\s+/),
)

/** Subcommands with subcommands of their own. */
const GROUPS = new Set(
  'container image system context builder buildx manifest compose secret node swarm trust'.split(' '),
)

/** Resources of `kubectl create` that run nothing. */
const MADE =
  /^(?:-f|--filename=.*|ns|namespace|cm|configmap|secret|sa|serviceaccount|(?:cluster)?role(?:binding)?|ing|ingress|svc|service|quota|token|pdb|priorityclass)$/

/** Options before a subcommand that only select a target. The last one takes no value. */
const PLACE = /^(?:-n|--(?:namespace|context)|-A)(?:=|$)/

const afterContainerName = (args: Words): Words => {
  let at = 0
  for (let word = args[at] ?? ''; PLACE.test(word); word = args[at] ?? '')
    at += word.includes('=') || word === '-A' ? 1 : 2
  return args.slice(at)
}

/** The first plain word of `docker compose`, after its files. */
const firstPlain = (args: Words): string | undefined => {
  const at = args.findIndex((word) => word !== '-f' && word?.startsWith('-') !== true)
  return args[at - 1] === '-f' ? args[at + 1] : args[at]
}

/** True if a program starts a container with contents that its words do not show. */
const contains = (program: string, args: Words): boolean => {
  if (!CONTAINERS.has(program)) return false
  const [subcommand = '', ...rest] = afterContainerName(args)
  if (subcommand === 'create' && program === 'kubectl') return rest.includes('--') || !MADE.test(rest[0] ?? '')
  return !LOOKING.has((GROUPS.has(subcommand) ? firstPlain(rest) : subcommand) ?? '')
}

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
const interprets = (program: string, args: Words): boolean => {
  if (!INTERPRETERS.has(program)) return false
  if (ANYWHERE.has(program) && args.some((word) => TEXT.test(word ?? ''))) return true
  const own = afterPlainOptions(program, args)
  const [first] = own
  // without arguments, rake runs its default task
  if (first === undefined) return own.length > 0 || program !== 'rake'
  if (/^(?:|eval|repl)$/.test(first) || READ.test(first)) return true
  return first.startsWith('-') && (!HARMLESS_OPTIONS.has(first) || takesText(own))
}
