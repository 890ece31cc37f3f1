type Words = readonly (string | undefined)[]

/** Full names of settings that name no program and no file: `merge.ff` is one, `merge.ff.driver` is not. */
const PLAIN_SETTING =
  /^(?:user\.(?:name|email|signingkey)|(?:color|advice|log|pull|rerere|pack|column|status|grep|blame|stash)\.[^=]*|gc\.(?!recentobjectshook)[^=]*|core\.(?:quotepath|autocrlf|filemode|ignorecase|longpaths|bare|eol|safecrlf|abbrev|whitespace|sparsecheckout(?:cone)?|precomposeunicode|symlinks|compression|preloadindex|untrackedcache|commentchar)|(?:commit|tag)\.gpgsign|diff\.(?:renames|renamelimit|noprefix|mnemonicprefix|algorithm|colormoved(?:ws)?)|safe\.directory|init\.defaultbranch|push\.(?:default|autosetupremote|followtags)|fetch\.prune(?:tags)?|merge\.(?:conflictstyle|ff)|rebase\.(?:autostash|autosquash|updaterefs)|branch\.[^=]*\.(?:remote|merge|rebase)|remote\.[^=]*\.(?:url|fetch)|http\.(?:postbuffer|version|lowspeed(?:limit|time)|maxrequests)|protocol\.version|format\.pretty|submodule\.recurse|lfs\.(?:locksverify|fetchinclude|fetchexclude|concurrenttransfers)|extensions\.worktreeconfig|maintenance\.auto|feature\.manyfiles|index\.version)(?:=|$)/i

/** Values that run no program. */
const NO_PROGRAM =
  /^(?:core\.pager=(?:cat)?|pager\.[a-z]+=(?:cat|true|false)?|(?:core|sequence)\.editor=(?:true|:)|core\.hookspath=(?:\/dev\/null)?|core\.(?:fsmonitor|askpass)=(?:true|false)?|credential\.helper=|diff\.external=|http\.sslverify=true)$/i

const isPlain = (setting: string): boolean =>
  (PLAIN_SETTING.test(setting) && !/=(?:ext|fd)::/.test(setting)) || NO_PROGRAM.test(setting)

/** Long options with a program, for any subcommand. */
const RUNNING = ['--upload-pack', '--receive-pack', '--exec', '--exec-path', '--open-files-in-pager', '--extcmd']
const FILTERING = ['--config-env', '--ext-diff', '--textconv', '--gpg-program', '--tool-help']

const WITH_VALUE = new Set(['-C', '--git-dir', '--work-tree', '--namespace', '--super-prefix', '--attr-source'])

const shortens = (word: string, options: readonly string[]): boolean => {
  const [name = ''] = word.split('=', 1)
  return name.length > 2 && options.some((option) => option.startsWith(name) && name !== '--exec-path')
}

/** Index of the subcommand. Undefined if an option before it runs something. */
const subcommandAt = (args: Words): number | undefined => {
  let at = 0
  for (let word = args[at]; word?.startsWith('-') === true; word = args[at]) {
    const isSetting = word === '-c'
    if (isSetting ? !isPlain(args[at + 1] ?? '') : isRunning(word)) return undefined
    at += isSetting || WITH_VALUE.has(word) ? 2 : 1
  }
  return at
}

/** True if git runs a program from its arguments, or configures one for later. */
export const gitHasSideEffects = (args: Words): boolean => {
  const at = subcommandAt(args)
  if (at === undefined) return true
  const [subcommand, ...rest] = args.slice(at)
  return subcommand === undefined ? at < args.length : subcommandHasSideEffects(subcommand, rest)
}

/** True if additional words could make git do so. */
export const gitTakes = (args: Words): boolean =>
  !args.includes('--') && TAKING.test(args[subcommandAt(args) ?? 0] ?? '')

const isRunning = (word: string): boolean =>
  shortens(word, [...RUNNING, ...FILTERING]) || word.startsWith('--exec-path=') || /^-c./.test(word)

/** A relative tool name, which git reads as a script next to its own tools. */
const TOOL = String.raw`^(?:-[a-zA-Z]*t|--to[a-z]*=)?(?:\./+)*\.\./`

const LETTERS: Readonly<Record<string, RegExp>> = {
  grep: /^-[a-zA-Z]*O/,
  rebase: /^-[a-zA-Z]*x/,
  difftool: new RegExp(`^-[a-zA-Z]*x|${TOOL}`),
  mergetool: new RegExp(TOOL),
  clone: /^(?:-[a-zA-Z]*[uc]|--(?:co|te))/,
  init: /^--te/,
  svn: /^--(?:authors-p|config-d)/,
  'filter-repo': /-callback/,
}

/** Subcommands that run a program from an argument or setting. */
const RUNNERS =
  /^(?:filter-branch|daemon|shell|hook|instaweb|send-email|for-each-repo|credential|web--browse|remote-(?:ext|fd)|merge-index|.*--helper)$/

/** Subcommands with options that run a program or write a file. */
const TAKING =
  /^(?:archive|bisect|clone|config|diff.*|difftool|fetch.*|format-patch|grep|init|log|ls-remote|pull|push|range-diff|rebase|reflog|send-pack|show|stash|submodule|svn|whatchanged)$/

const subcommandHasSideEffects = (subcommand: string, args: Words): boolean => {
  if (RUNNERS.test(subcommand)) return true
  if (/^(?:bisect|submodule)$/.test(subcommand) && /^(?:run|foreach)$/.test(firstPlain(args))) return true
  if (subcommand === 'config') return configures(args)
  if (subcommand !== 'archive' && args.some((word) => /^--output(?:=|$)/.test(word ?? ''))) return true
  const letter = Object.hasOwn(LETTERS, subcommand) ? LETTERS[subcommand] : undefined
  return (subcommand === 'clone' ? withoutPlainSettings(args) : args).some(
    (word) =>
      word !== undefined &&
      (shortens(word, RUNNING) || letter?.test(word) || /^(?:--[a-z-]+=)?(?:ext|fd)::/.test(word)),
  )
}

/** The words without harmless settings. */
const withoutPlainSettings = (args: Words): Words =>
  args.filter((word = '', at) => {
    if (/^(?:-c|--config)$/.test(word)) return !isPlain(args[at + 1] ?? '')
    return !(word.startsWith('--config=') && isPlain(word.slice('--config='.length)))
  })

const firstPlain = (args: Words): string => args.find((word) => word?.startsWith('-') === false) ?? ''

const WITH_CONFIG_VALUE = new Set(['-f', '--file', '--blob', '--type', '--default', '--comment', '--value', '--url'])

/** The options of `git config`, and the words after them. */
const configured = (args: Words): { readonly options: readonly string[]; readonly rest: Words } => {
  const options: string[] = []
  let at = 0
  for (let word = args[at]; word?.startsWith('-') === true; word = args[at]) {
    options.push(word)
    at += WITH_CONFIG_VALUE.has(word) ? 2 : 1
  }
  return { options, rest: args.slice(at) }
}

/** True if `git config` changes a setting that is not harmless. Options after the first plain word are values. */
const configures = (args: Words): boolean => {
  if (/^(?:get|list|unset)$/.test(args[0] ?? '')) return false
  const { options, rest } = configured(args[0] === 'set' ? args.slice(1) : args)
  if (rest[0] === 'edit' || options.some((word) => /^(?:-[a-z]*e|--ed.*)$/.test(word))) return true
  // `--no-…` reverts an earlier option
  const reads = options.some((word) => /^(?:--(?:get|list|unset)|-l$)/.test(word))
  if (rest.length < 2 || (reads && !options.some((word) => word.startsWith('--no-')))) return false
  const [key = '', value, ...more] = rest.filter((word) => word?.startsWith('-') !== true)
  return more.length > 0 || !isPlain(`${key}=${value}`)
}
