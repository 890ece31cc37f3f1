import { awkHasSideEffects } from './awk.ts'
import { launchedProgram, takesExternalInput } from './external-inputs.ts'
import { gitHasSideEffects, gitTakes } from './git.ts'
import { runsEnv } from './npm.ts'
import { lettersOf } from './option-clusters.ts'
import { readsCommands, takesCommands } from './script-inputs.ts'
import { sedHasSideEffects } from './scripts.ts'

type Words = readonly (string | undefined)[]

/** Programs that write to their second file, with their options that take a value. */
const SECOND: Readonly<Record<string, RegExp>> = {
  uniq: /^-[^-]*[fsw]$|^--(?:sk|ch)[a-z-]*$/,
  xxd: /^-(?:[cglnos]|cols|len|seek)$/,
}

const writesSecond = (args: Words, valued = /^/): boolean => {
  const end = args.indexOf('--')
  const plain = args.filter((word, at) => {
    if (end !== -1 && at >= end) return at > end
    const isOption = word !== undefined && /^-./.test(word)
    return !isOption && !valued.test(args[at - 1] ?? '')
  })
  return plain.length > 1
}

/** True if a word is the given option, abbreviated or in a cluster. */
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

/** True if gh runs a program or configures a command for later. */
const ghHasSideEffects = (args: Words): boolean => {
  const plain = args.filter((word) => word?.startsWith('-') !== true)
  const end = args.indexOf('--')
  if (
    end !== -1 &&
    /^(?:repo (?:clone|fork)|gist clone)\b/.test(plain.join(' ')) &&
    gitHasSideEffects(['clone', ...args.slice(end + 1)])
  )
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

/** The words without options that have a harmless usual value. */
const withoutUsual = (program: string, args: Words): Words => {
  const [option, value] = USUAL.get(program) ?? []
  if (option === undefined || value === undefined) return args
  const isUsual = (name = '', named = ''): boolean => option.test(name) && value.test(named)
  return args.filter((word, at) => {
    const [name, ...rest] = (word ?? '').split('=')
    return !(isUsual(name, rest.join('=')) || isUsual(word, args[at + 1]) || isUsual(args[at - 1], word))
  })
}

/** True if an option follows the subcommand that it acts on. */
const actsAfterSubcommand = (program: string, args: Words): boolean =>
  (Object.hasOwn(SUBCOMMAND_OPTIONS, program) ? (SUBCOMMAND_OPTIONS[program] ?? []) : []).some(
    ([subcommand, option]) => {
      const at = args.findIndex((word) => subcommand.test(word ?? ''))
      const from = args.findIndex((word, index) => index > at && option.test(word ?? ''))
      return at !== -1 && from !== -1
    },
  )

/** A URL with a host that some programs treat as an option. */
const OPTION_AS_HOST = /^[a-z][a-z+]*:\/\/(?:[^/@]*@)?-/i

/** Built-ins with numeric arguments, which ksh and zsh evaluate. An array index in them can run a command. */
const COMPUTING = new Set(['test', '[', 'printf', 'print', 'return', 'break', 'continue', 'exit', 'shift'])
const RUNNING_INDEX = /\w\[.*(?:\$\(|`)/s

const isActing = (program: string, word: string): boolean =>
  readsCommands(program, word) || OPTION_AS_HOST.test(word) || (COMPUTING.has(program) && RUNNING_INDEX.test(word))

/** True if arguments make a program run commands, write or delete. `args` has undefined for dynamic words. */
export const hasSideEffects = (program: string, all: Words): boolean => {
  const args = withoutUsual(program, all)
  if (hasOption(program, args) || actsAfterSubcommand(program, args)) return true
  if (takesExternalInput(program, args) || transferHasSideEffects(program, args)) return true
  if (args.some((word) => word !== undefined && isActing(program, word))) return true
  const started = launchedProgram(program, args)
  if (started !== undefined && hasSideEffects(...started)) return true
  return ownSideEffects(program, args)
}

/** Side effects of programs with special syntax. */
const ownSideEffects = (program: string, args: Words): boolean => {
  if (program === 'git') return gitHasSideEffects(args)
  if (program === 'gh') return ghHasSideEffects(args)
  if (program === 'npm') return runsEnv(args)
  // the first word needs no dash
  if (program === 'tar') return /^[A-Za-z]*[IF]/.test(args[0] ?? '')
  // words after `--` go to the build program
  if (program === 'cmake') return args.includes('--') && hasSideEffects('make', args.slice(args.indexOf('--') + 1))
  if (Object.hasOwn(SECOND, program)) return writesSecond(args, SECOND[program])
  if (program === 'sed') return sedHasSideEffects(args)
  return /^[gmn]?awk$/.test(program) && awkHasSideEffects(args)
}

/** True if additional, unknown words, such as xargs input, could have side effects. */
export const couldHaveSideEffects = (program: string, args: Words): boolean =>
  takesCommands(program) ||
  (program === 'git' && gitTakes(args)) ||
  // an unknown option value could be any path
  takesExternalInput(
    program,
    args.map((word) => word ?? '/'),
  ) ||
  ((Object.hasOwn(OPTIONS, program) || Object.hasOwn(SECOND, program)) && (program === 'find' || !args.includes('--')))

/**
 * Options that make a program run other commands, or write or delete files. Long options also match abbreviations,
 * and letters match within clusters.
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
  rsync: '-e -M --rsh --rsync-path --remote-option --daemon --server',
  scp: '-S -o -F -D',
  sftp: '-S -o -F',
  tcpdump: '-z -w',
  install: '--strip-program',
  cpio: '--rsh-command',
  diff3: '--diff-program',
  sdiff: '--diff-program',
  mypy: '--python-executable',
  gem: '-e --editor',
  jj: '--config --config-toml --config-file',
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
  wget: '--use-askpass --config',
  pip: '--config-settings --global-option --install-option --python --editor',
  apt: '-o -c --option --config-file',
  'apt-get': '-o -c --option --config-file',
  svn: '--diff-cmd --diff3-cmd --editor-cmd --config-option --config-dir',
  hg: '--config --ssh --remotecmd --command --program --tool',
  ag: '--pager',
  ack: '--pager',
  bat: '--pager',
  batcat: '--pager',
  delta: '--pager --config',
  shuf: '-o --output',
  tree: '-o -R',
  iconv: '-o --output',
  man: '-P -H -C --pager --html --config-file',
  mysql: '--pager --plugin-dir',
  mariadb: '--pager --plugin-dir',
  helm: '--post-renderer',
  bazel: '--run_under --workspace_status_command --shell_executable --credential_helper --server_javabase',
  ctest: '--test-command --build-makeprogram',
  'ssh-keygen': '-D -w',
  sqlite3: '-A',
  terraform: '-plugin-dir',
  tofu: '-plugin-dir',
  yarn: '--script-shell --use-yarnrc',
  nodemon: '-x --exec',
  just: '-c --command --shell',
  pandoc: '-F -L --filter --lua-filter --pdf-engine',
  restic: '--password-command',
  borg: '--rsh --remote-path',
  certbot: '--pre-hook --post-hook --deploy-hook --renew-hook --manual-auth-hook --manual-cleanup-hook',
  openvpn: '--up --down --script-security',
  tshark: '-X -w',
  pylint: '--init-hook',
  exiftool: '-if -if2 -if3 -if4 -if5 -config -execute',
  tox: '-x --override',
  pidstat: '-e',
  groff: '-U',
  history: '-a -w -c -d',
  file: '-C --compile',
  ss: '-D -K --diag --kill',
  lsof: '-D',
  yq: '-i --inplace -s --split-exp',
  xmllint: '-o --output --shell',
  xsltproc: '-o --output --writesubtree',
  base64: '-o --output',
  ctags: '-f -o --options',
  dot: '-o -O',
  info: '-o --output --init-file',
  dmesg: '-C -c --clear --read-clear',
}

/** Options that make a built-in evaluate a variable name, or that change how the shell parses later words. */
const BUILT_IN: Readonly<Record<string, string>> = { printf: '-v', test: '-v -R', wait: '-p', set: '-k -H' }

/** Shell modes other than these change parsing, for example `keyword` and `history`. */
const NO_PLAIN_MODE =
  /^(?!(?:allexport|errexit|errtrace|functrace|ignoreeof|monitor|noclobber|noexec|noglob|notify|nounset|physical|pipefail|posix|verbose|xtrace)$)[a-z]/i

/** Options that act only after certain subcommands. */
const SUBCOMMAND_OPTIONS: Readonly<Record<string, readonly (readonly [subcommand: RegExp, option: RegExp])[]>> = {
  hg: [
    [/^bisect$/, /^-[a-z]*c/],
    [/^(?:merge|resolve|update|rebase|graft|backout|unshelve)$/, /^-[a-z]*t/],
    [/^extdiff$/, /^-[a-z]*p/],
  ],
  npm: [
    [
      /^(?:c|conf(?:ig?)?|set)$/,
      /^(?:shell|git|editor|viewer|browser|init-module|globalconfig|userconfig|script-shell|node-options)(?:=|$)/,
    ],
  ],
  yarn: [
    [/^config$/, /^(?:yarn-?path|script-?shell|plugins)/i],
    [/^(?:version|import)$/, /^(?:\.{0,2}\/|https?:)|\.c?js$/],
  ],
  aws: [[/^configure$/, /^(?:\S+\.)?plugins\./]],
  gh: [[/^(?:codespace|cs)$/, /^(?:-[oFS]|.*proxycommand)/i]],
  cargo: [[/^watch$/, /^(?:-[a-z]*s|--shell)/]],
  puppet: [[/^apply$/, /^(?:-e|--ex)/]],
  set: [[/^[-+][A-Za-z]*o$/, NO_PLAIN_MODE]],
  shopt: [[/^-[a-z]*o/, NO_PLAIN_MODE]],
}

const COMPRESSORS =
  /^(?:gzip|pigz|bzip2|pbzip2|lbzip2|xz|pixz|zstd|zstdmt|lz4|lzip|plzip|lzop|brotli)(?: -(?:[0-9]+|T[0-9]*|[kdq]|-long(?:=[0-9]+)?))*$/
const SSH =
  /^ssh(?: -(?:[46CTqx]+|[pil] ?[\w./~-]+|o ?(?:StrictHostKeyChecking|UserKnownHostsFile|ConnectTimeout|BatchMode|IdentitiesOnly)=[\w./]+))*$/

/** Options with a harmless usual value: the option, and its allowed values. */
const USUAL: ReadonlyMap<string, readonly [option: RegExp, value: RegExp]> = new Map([
  ['tar', [/^(?:-I|--use-compress-program)$/, COMPRESSORS]],
  ['rsync', [/^(?:-[A-LN-Za-z]*e|--rsh)$/, SSH]],
])

/** Outputs that store nothing. */
const STANDARD_OUTPUT = /^(?:-|\/dev\/(?:null|stdout|stderr))$/

const CURL_VALUED = 'AbcCdDeEFHhKmoPQrtTuUwxXyYz'
/** Long curl options that write a file, or read further options from one. */
const CURL =
  /^--(?:output-dir|out-d|remote-n|remote-header|dump-|cookie-j|conf|trace(?!-(?:time|ids|config))|libcurl|stderr|etag-s|hsts|alt-svc)/

const curlHasSideEffects = (args: Words): boolean =>
  lettersOf(args, CURL_VALUED).some(
    ([letter, value]) => 'OJK'.includes(letter) || ('oDc'.includes(letter) && !STANDARD_OUTPUT.test(value ?? '')),
  ) ||
  args.some((word = '', at) => {
    if (/%output\{/.test(word) || CURL.test(word)) return true
    const [name = '', ...rest] = word.split('=')
    const isOutput = name.length > 4 && '--output'.startsWith(name)
    return isOutput && !STANDARD_OUTPUT.test((rest.length > 0 ? rest.join('=') : args[at + 1]) ?? '')
  })

const WGET_VALUED = 'aoeitTOPlADRIXUwQB'
const WGET = /^--(?:output-[df]|append-o|directory-p|execute|warc|save-c|config|rejected-l|hsts-f|load-c|input-m)/
/** Harmless wget settings. */
const WGET_PLAIN = /^(?:robots|timeout|tries|wait|quiet|check_certificate|user_agent)\s*=/

const wgetHasSideEffects = (args: Words): boolean =>
  lettersOf(args, WGET_VALUED).some(
    ([letter, value = '']) =>
      ('Ooa'.includes(letter) && !STANDARD_OUTPUT.test(value)) ||
      letter === 'P' ||
      (letter === 'e' && !WGET_PLAIN.test(value)),
  ) ||
  args.some((word = '', at) => {
    if (!WGET.test(word)) return false
    const [name = '', ...rest] = word.split('=')
    const value = (rest.length > 0 ? rest.join('=') : args[at + 1]) ?? ''
    if (name === '--execute') return !WGET_PLAIN.test(value)
    return !(/^--output-[df]/.test(name) && STANDARD_OUTPUT.test(value))
  })

/** True if curl or wget writes a file, or reads options from one. */
const transferHasSideEffects = (program: string, args: Words): boolean =>
  program === 'curl' ? curlHasSideEffects(args) : program === 'wget' && wgetHasSideEffects(args)
