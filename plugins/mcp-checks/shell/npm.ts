/** Aliases of npm's subcommands. */
const NAMES: Readonly<Record<string, string>> = {
  install: 'i in ins inst insta instal isnt isnta isntal isntall add',
  uninstall: 'un unlink remove rm r',
  update: 'u up upgrade udpate',
  exec: 'x',
  run: 'run-script rum urn',
  test: 't tst',
  ci: 'clean-install ic install-clean isntall-clean',
  init: 'create innit',
  link: 'ln',
  config: 'c',
  view: 'v info show',
  rebuild: 'rb',
}

const NAME = new Map(Object.entries(NAMES).flatMap(([name, others]) => others.split(' ').map((other) => [other, name])))

/** Shorter abbreviations are ambiguous. */
const MIN_LENGTH = 3

/** True if npm runs its built-in script `env`, which runs the words after it. */
export const runsEnv = (args: readonly (string | undefined)[]): boolean => {
  const at = args.findIndex((word) => word !== undefined && isSubcommand(word, 'run'))
  const script = args.findIndex((word, index) => index > at && word?.startsWith('-') !== true)
  return at !== -1 && args[script] === 'env' && args.slice(script + 1).some((word) => word !== '--')
}

/** True if a word is a subcommand of npm, by an alias or abbreviation. */
export const isSubcommand = (word: string, subcommand: string): boolean => {
  const name = NAME.get(subcommand) ?? subcommand
  if ((NAME.get(word) ?? word) === name) return true
  const names = [name, ...(Object.hasOwn(NAMES, name) ? (NAMES[name] ?? '').split(' ') : [])]
  return word.length >= MIN_LENGTH && names.some((one) => one.startsWith(word))
}
