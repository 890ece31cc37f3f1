type Words = readonly (string | undefined)[]

/** Settings that name no program and load no file. */
const PLAIN_SETTING =
  /^(?:user\.(?:name|email|signingkey)|color\.|advice\.|core\.(?:quotepath|autocrlf|filemode|ignorecase|longpaths|bare|eol|safecrlf|abbrev)|commit\.gpgsign|tag\.gpgsign|log\.|diff\.(?:renames|renamelimit|noprefix|mnemonicprefix|algorithm|colormoved)|safe\.directory|init\.defaultbranch|pull\.|push\.(?:default|autosetupremote|followtags)|fetch\.prune|merge\.(?:conflictstyle|ff)|rebase\.(?:autostash|autosquash|updaterefs)|branch\.[^=]*\.(?:remote|merge|rebase)|remote\.[^=]*\.(?:url|fetch)|rerere\.|gc\.|pack\.|http\.(?:postbuffer|version|lowspeed|maxrequests)|protocol\.version|column\.|status\.|format\.pretty|grep\.|blame\.|stash\.|submodule\.recurse)/i

/** No pager at all. */
const PLAIN_PAGER = /^core\.pager=(?:cat)?$/i

const isPlain = (setting: string): boolean => PLAIN_SETTING.test(setting) || PLAIN_PAGER.test(setting)

/** Long options that name a program, in whatever subcommand. */
const RUNNING = ['--upload-pack', '--receive-pack', '--exec', '--exec-path', '--open-files-in-pager', '--extcmd']
const FILTERING = ['--config-env', '--ext-diff', '--textconv', '--gpg-program', '--tool-help']

const WITH_VALUE = new Set(['-C', '--git-dir', '--work-tree', '--namespace', '--super-prefix', '--attr-source'])

const shortens = (word: string, options: readonly string[]): boolean => {
  const [name = ''] = word.split('=', 1)
  return name.length > 2 && options.some((option) => option.startsWith(name) && name !== '--exec-path')
}

/** Whether git runs a program that its arguments name, or sets one up for later. */
export const gitActs = (args: Words): boolean => {
  let at = 0
  for (let word = args[at]; word?.startsWith('-') === true; word = args[at]) {
    const isSetting = word === '-c'
    if (isSetting ? !isPlain(args[at + 1] ?? '') : isRunning(word)) return true
    at += isSetting || WITH_VALUE.has(word) ? 2 : 1
  }
  const [subcommand, ...rest] = args.slice(at)
  return subcommand === undefined ? at < args.length : subcommandActs(subcommand, rest)
}

const isRunning = (word: string): boolean =>
  shortens(word, [...RUNNING, ...FILTERING]) || word.startsWith('--exec-path=') || /^-c./.test(word)

const LETTERS: Readonly<Record<string, RegExp>> = {
  grep: /^-[a-zA-Z]*O/,
  rebase: /^-[a-zA-Z]*x/,
  difftool: /^-[a-zA-Z]*x/,
  clone: /^(?:-[a-zA-Z]*[uc]|--(?:co|te))/,
  init: /^--te/,
  svn: /^--authors-p/,
}

const subcommandActs = (subcommand: string, args: Words): boolean => {
  if (/^(?:filter-branch|daemon|shell|hook|instaweb|send-email|for-each-repo|credential|web--browse)$/.test(subcommand))
    return true
  if (/^(?:bisect|submodule)$/.test(subcommand) && /^(?:run|foreach)$/.test(firstPlain(args))) return true
  if (subcommand === 'config') return configures(args)
  if (subcommand !== 'archive' && args.some((word) => /^--output(?:=|$)/.test(word ?? ''))) return true
  const letter = Object.hasOwn(LETTERS, subcommand) ? LETTERS[subcommand] : undefined
  return args.some(
    (word) => word !== undefined && (shortens(word, RUNNING) || letter?.test(word) || /^(?:ext|fd)::/.test(word)),
  )
}

const firstPlain = (args: Words): string => args.find((word) => word?.startsWith('-') === false) ?? ''

const configures = (args: Words): boolean => {
  const [verb, ...rest] = args.filter((word) => word?.startsWith('-') !== true)
  // behind the first plain word an option is a value
  const options = args.slice(0, verb === undefined ? undefined : args.indexOf(verb))
  if (options.some((word) => word !== undefined && /^--?(?:get|list|l$|unset|show|name-only)/.test(word))) return false
  if (verb === 'edit' || options.some((word) => word !== undefined && /^(?:-e|--ed.*)$/.test(word))) return true
  const [key, ...values] = verb === 'set' ? rest : [verb, ...rest]
  if (verb === 'get' || verb === 'list' || verb === 'unset') return false
  return values.length > 0 && !isPlain(key ?? '') && !isPlain(`${key}=${values[0]}`)
}
