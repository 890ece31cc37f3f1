import { contains } from './containers.ts'
import { interprets } from './interpreters.ts'
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
