/** Programs and built-ins whose work is to run another command, or a text as one. */
const RUNNERS = new Set(
  `sh ash bash dash zsh ksh mksh fish csh tcsh rbash busybox toybox env xargs sudo doas su runuser pkexec setpriv chroot unshare nsenter
  nohup setsid nice ionice chrt taskset timeout time stdbuf script expect watch parallel find fd fdfind locate exec eval source . command builtin
  coproc trap alias enable hash bind complete compgen mapfile readarray ssh mosh rsh docker podman kubectl nerdctl lxc machinectl systemd-run systemctl
  at batch crontab flock gdb lldb strace ltrace valgrind perf awk gawk mawk nawk vi vim nvim ex ed emacs nano less more man tmux screen
  powershell pwsh cmd cscript wscript mshta rundll32 regsvr32 osascript open start xdg-open ld.so ld-linux.so.2 ld-linux-x86-64.so.2
  run-parts start-stop-daemon socat nc ncat netcat if then else elif do while until for case select function`.split(
    /\s+/,
  ),
)

/** Programs that run a file, or a text given in an option. */
const INTERPRETERS =
  /^(?:python|pypy|perl|ruby|irb|node|nodejs|deno|bun|php|lua|luajit|tclsh|wish|rscript|julia|guile|racket|groovy|scala|erl|elixir|ghc|runghc|jshell)[0-9.]*$/

/** Options after which an interpreter runs no text of its caller. */
const HARMLESS = new Set(['-m', '-V', '-v', '--version', '--help', '-h', '--test', '--check'])

/** The name of a program without its folder and Windows extension, lower case. */
export const programName = (word: string): string =>
  word
    .slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1)
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat|com)$/, '')

/** Whether a command may run others that its text does not show. `args` holds undefined for what is not known before it runs. */
export const runsOthers = (program: string, args: readonly (string | undefined)[]): boolean => {
  if (RUNNERS.has(program)) return true
  if (!INTERPRETERS.test(program)) return false
  const [first] = args
  return first === undefined || first === '' || first === 'eval' || (first.startsWith('-') && !HARMLESS.has(first))
}
