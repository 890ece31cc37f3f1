import { gitActs, gitTakes } from './git.ts'
import { awkActs, psqlActs, sedActs } from './scripts.ts'

type Words = readonly (string | undefined)[]

/**
 * Options with which a program whose work is another one runs commands of its caller, or writes or deletes files.
 * Long options also count when they are shortened; a letter also in a cluster of letters.
 */
const OPTIONS: Readonly<Record<string, string>> = {
  find: '-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls',
  fd: '-x -X --exec --exec-batch',
  fdfind: '-x -X --exec --exec-batch',
  rg: '--pre --hostname-bin',
  sort: '-o --output --compress-program',
  split: '--filter',
  tar: '-I -F --use-compress-program --checkpoint-action --to-command --rsh-command --rmt-command --info-script --new-volume-script',
  bsdtar: '-I --use-compress-program',
  zip: '--unzip-command',
  rsync: '-e --rsh --rsync-path',
  scp: '-S -o -F',
  sftp: '-S -o -F',
  tcpdump: '-z',
  npm: '--script-shell --shell --node-options',
  pnpm: '--script-shell --shell-mode',
  make: '-E --eval',
  gcc: '-wrapper -fplugin -specs',
  cc: '-wrapper -fplugin -specs',
  'g++': '-wrapper -fplugin -specs',
  clang: '-fplugin -fpass-plugin -load',
  'clang++': '-fplugin -fpass-plugin -load',
  go: '-exec -toolexec -vettool',
  cargo: '--config',
  openssl: '-engine -provider-path',
  wget: '--use-askpass',
  pip: '--config-settings --global-option --python',
  apt: '-o -c --option --config-file',
  'apt-get': '-o -c --option --config-file',
  svn: '--diff-cmd --diff3-cmd --editor-cmd --config-option --config-dir',
  hg: '--config --ssh --remotecmd',
  ag: '--pager',
  ack: '--pager',
  bat: '--pager',
  batcat: '--pager',
  delta: '--pager',
  shuf: '-o --output',
  tree: '-o',
  iconv: '-o --output',
  man: '-P -H -C --pager --html --config-file',
  mysql: '--pager',
  mariadb: '--pager',
  helm: '--post-renderer',
  bazel: '--run_under',
  ctest: '--test-command',
  'ssh-keygen': '-D',
}

/** Options with which built-ins evaluate the name of a variable. */
const BUILT_IN: Readonly<Record<string, string>> = { printf: '-v', test: '-v -R', wait: '-p' }

/** Commands of sqlite3 that only show, in full: any other, and any shortened one, may run or write. */
const SHOWING =
  'tables?|schemas?|headers?|mode|index(?:es)?|indices|dump|databases|help|show|width|nullvalue|separator|echo|bail|stats|timer|timeout|eqp|explain|fullschema|dbinfo|lint|print|quit|exit|changes|limit|version|open(?!\\s+-)'

/** A line of sqlite3 that is none of those, and functions that run a program or write a file, their names in quotes or not. */
const SQLITE = new RegExp(
  String.raw`^[ \t]*\.(?!(?:${SHOWING})(?:\s|$))[a-z]+(?:\s|$)|\b(?:load_extension|edit|readfile|writefile)["\x60\]]?\s*(?:\(|/\*|--)`,
  'im',
)

/** What a program reads is what another one prints, or stands in the text behind it. */
const STDIN = String.raw`(?:-|(?:\S*/)?(?:stdin|fd/+0))$`

/** Arguments that are commands of their own to a program, wherever they stand. */
const TEXTS: Readonly<Record<string, RegExp>> = {
  // what make itself runs while it reads a variable, and what its shell runs for one
  make: new RegExp(
    String.raw`^(?:SHELL|(?:GNU)?MAKEFLAGS|MAKEFILES|MAKE|\.SHELLFLAGS)\s*[:?+]*=|^[^=]*!\s*=|\$[({][^)}$\s]*[\s,<>]|\$\$[({]|\x60|^(?:-[A-Za-z]*f|--[fm][a-z]*=)?${STDIN}`,
  ),
  kubectl: /^(?:--kubeconfig=)?\S*\/(?:stdin|fd\/+0)$/,
  npm: /^(?:script-shell|node-options)(?:=|$)|^--(?:global|user)c|^--(?:git|editor|viewer|browser|python)(?:=|$)/,
  go: /^(?:GOFLAGS|CC|CXX|AR|FC|PKG_CONFIG)=|-extld\b/,
  psql: /\\!|\\setenv\b|%`|\bprogram\s*(?:'|\$|\/\*|--|[en]'|u&')|^(?:-[a-z0-9]*o|--out[a-z]*=)?\s*\|/i,
  mysql: /\\!|(?:^|;)\s*system\b/i,
  mariadb: /\\!|(?:^|;)\s*system\b/i,
  sqlite3: new RegExp(`^-A|${SQLITE.source}`, 'im'),
  duckdb: SQLITE,
  wget: /a[-_]*s[-_]*k[-_]*p[-_]*a[-_]*s[-_]*s/i,
  rpm: /^--pi|%\(|%\{(?:lua|load)\b/,
  aria2c: /^--on-/,
  zip: /^-[A-Za-z]*TT/,
  node: /^(?:--[a-z-]+=)?data:/i,
  pnpm: /^--config\.(?:script-shell|node-options|shell)/i,
  aws: /credential_process|cli_pager/,
  cmake: /^-E$/,
  mvn: /exec\.executable/,
  java: /^-XX:On[A-Za-z]*Error=|^-(?:javaagent|agentpath|agentlib):/,
}

/** Programs that write to the second file they are given; their letters that take a value. */
const SECOND: Readonly<Record<string, RegExp>> = {
  uniq: /^-[^-]*[fsw]$|^--(?:sk|ch)[a-z-]*$/,
  xxd: /^-(?:[cglnos]|cols|len|seek)$/,
}

const writesSecond = (args: Words, valued = /^/): boolean =>
  args.filter((word, at) => {
    const isOption = word !== undefined && /^-./.test(word)
    return !isOption && !valued.test(args[at - 1] ?? '')
  }).length > 1

/** Whether a program runs commands that a text which it reads holds. */
export const readsCommands = (program: string, text: string): boolean =>
  (Object.hasOwn(TEXTS, program) && TEXTS[program]?.test(text) === true) || (program === 'psql' && psqlActs(text))

/** Programs that run commands in what they are given to read. */
const CLIENTS = ['sqlite3', 'duckdb', 'psql', 'mysql', 'mariadb']

/** Those that would run commands in one of the texts that others might hand them through a pipe. */
export const readersOf = (texts: readonly string[]): ReadonlySet<string> =>
  new Set(CLIENTS.filter((program) => texts.some((text) => readsCommands(program, text))))

/** Whether a word, as far as it is known, is one of a program's options. */
const isOption = (word: string, option: string): boolean => {
  if (option.startsWith('--')) {
    const [name = ''] = word.split('=', 1)
    return name.length > 2 && option.startsWith(name)
  }
  if (option.length > 2) return word.split('=', 1)[0]?.replace(/^--/, '-') === option
  return /^-[A-Za-z0-9]/.test(word) && word.includes(option.slice(1))
}

const GH = /^(?:alias (?:set|import)|config set (?:\S+ )?(?:pager|editor|browser)|ext(?:ensions?)? exec)\b/
const GH_GROUPS = new Set([undefined, 'alias', 'config', 'extension', 'extensions', 'ext'])

/** Whether gh names a program or a command for later. */
const ghActs = (args: Words): boolean => {
  const plain = args.filter((word) => word?.startsWith('-') !== true)
  const end = args.indexOf('--')
  if (end !== -1 && /^repo (?:clone|fork)\b/.test(plain.join(' ')) && gitActs(['clone', ...args.slice(end + 1)]))
    return true
  return GH.test(plain.join(' ')) || (GH_GROUPS.has(plain[0]) && plain.slice(0, 4).includes(undefined))
}

const hasOption = (program: string, args: Words): boolean => {
  const options = [OPTIONS, BUILT_IN].flatMap((known) =>
    Object.hasOwn(known, program) ? (known[program] ?? '').split(' ') : [],
  )
  const end = program === 'find' ? -1 : args.indexOf('--')
  const own = end === -1 ? args : args.slice(0, end)
  return own.some((word) => word !== undefined && options.some((one) => isOption(word, one)))
}

/** Whether arguments make a program run commands of its caller, write or delete. `args` holds undefined for what is not known. */
export const actsOn = (program: string, args: Words): boolean => {
  if (hasOption(program, args)) return true
  if (args.some((word) => word !== undefined && readsCommands(program, word))) return true
  if (program === 'git') return gitActs(args)
  // letters of the first word need no dash
  if (program === 'tar') return /^[A-Za-z]*[IF]/.test(args[0] ?? '')
  if (program === 'gh') return ghActs(args)
  if (Object.hasOwn(SECOND, program)) return writesSecond(args, SECOND[program])
  if (/^g?sed$/.test(program)) return sedActs(args)
  return /^[gmn]?awk$/.test(program) && awkActs(args)
}

/** Whether words that a program of a file gets behind its own, and that are not known, could make it do so. */
export const couldActOn = (program: string, args: Words): boolean =>
  Object.hasOwn(TEXTS, program) ||
  (program === 'git' && gitTakes(args)) ||
  ((Object.hasOwn(OPTIONS, program) || Object.hasOwn(SECOND, program)) && (program === 'find' || !args.includes('--')))
