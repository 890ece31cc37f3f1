import { gitActs } from './git.ts'
import { awkActs, sedActs } from './scripts.ts'

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
  zip: '-TT --unzip-command',
  rsync: '-e --rsh --rsync-path',
  scp: '-S -o -F',
  sftp: '-S -o -F',
  tcpdump: '-z',
  npm: '--script-shell --shell --node-options',
  pnpm: '--script-shell --shell-mode',
  make: '-E --eval',
  gcc: '-wrapper -fplugin',
  cc: '-wrapper -fplugin',
  'g++': '-wrapper -fplugin',
  go: '-exec -toolexec -vettool',
  cargo: '--config',
  openssl: '-engine -provider-path',
  wget: '--use-askpass',
  pip: '--config-settings --global-option --python',
}

/** Options with which built-ins evaluate the name of a variable. */
const BUILT_IN: Readonly<Record<string, string>> = { printf: '-v', test: '-v -R', wait: '-p' }

/** Arguments that are commands of their own to a program, wherever they stand. */
const TEXTS: Readonly<Record<string, RegExp>> = {
  make: /^(?:SHELL|MAKEFLAGS|MAKE|\.SHELLFLAGS)\s*[:?+]*=|^(?:-f|--(?:make)?file=)?(?:-|\/dev\/stdin)$/,
  npm: /^(?:script-shell|node-options)(?:=|$)|^--(?:global|user)c|^--(?:git|editor|viewer|browser|python)(?:=|$)/,
  go: /^(?:GOFLAGS|CC|CXX|AR|FC|PKG_CONFIG)=|-extld\b/,
  psql: /\\(?:!|(?:o|out|g|gx|w|write)\s*\||copy\b[^\n]*\bprogram\b)|\bprogram\s*'/i,
  mysql: /\\!|(?:^|;)\s*system\b/i,
  mariadb: /\\!|(?:^|;)\s*system\b/i,
  sqlite3:
    /^\s*\.(?:sh|sys|load|read|import|once|out|ex|ar|cd|log|e)|\b(?:load_extension|edit|readfile|writefile)\s*\(/im,
}

/** Whether a program runs commands that a text which it reads holds. */
export const readsCommands = (program: string, text: string): boolean =>
  Object.hasOwn(TEXTS, program) && TEXTS[program]?.test(text) === true

/** Whether a word, as far as it is known, is one of a program's options. */
const isOption = (word: string, option: string): boolean => {
  if (option.startsWith('--')) {
    const [name = ''] = word.split('=', 1)
    return name.length > 2 && option.startsWith(name)
  }
  if (option.length > 2) return word.split('=', 1)[0]?.replace(/^--/, '-') === option
  return /^-[A-Za-z0-9]/.test(word) && word.includes(option.slice(1))
}

/** Whether arguments make a program run commands of its caller, or delete. `args` holds undefined for what is not known. */
export const actsOn = (program: string, args: Words): boolean => {
  const options = [OPTIONS, BUILT_IN].flatMap((known) =>
    Object.hasOwn(known, program) ? (known[program] ?? '').split(' ') : [],
  )
  const text = Object.hasOwn(TEXTS, program) ? TEXTS[program] : undefined
  const end = program === 'find' ? -1 : args.indexOf('--')
  const own = end === -1 ? args : args.slice(0, end)
  if (own.some((word) => word !== undefined && options.some((one) => isOption(word, one)))) return true
  if (args.some((word) => word !== undefined && text?.test(word) === true)) return true
  if (program === 'git') return gitActs(args)
  if (/^g?sed$/.test(program)) return sedActs(args)
  return /^[gmn]?awk$/.test(program) && awkActs(args)
}

/** Whether words that a program of a file gets behind its own, and that are not known, could make it do so. */
export const couldActOn = (program: string, args: Words): boolean =>
  Object.hasOwn(TEXTS, program) || (Object.hasOwn(OPTIONS, program) && (program === 'find' || !args.includes('--')))
