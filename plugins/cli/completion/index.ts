import { type Gateway, GuardError } from 'guard-gateway/core'
import { type Command, commandKind } from '#lib/command'
import { terminalLine } from '#lib/text'
import {
  type CompletedCommand,
  type CompletedFlag,
  type CompletedValue,
  commonFlags,
  completedCommands,
  firstWords,
  secondWords,
} from './words.ts'

/** The completion script of fish: a line for each word, under the condition in which it is offered. */
const fishScript = (commands: readonly CompletedCommand[]): string =>
  [
    '# Save this: guard completion fish > ~/.config/fish/completions/guard.fish',
    '# The words of the command and its arguments, without flags.',
    'function __guard_words',
    '  set -l skip no',
    '  for word in (commandline -opc)[2..-1]',
    '    if test $skip = yes',
    '      set skip no',
    '      continue',
    '    end',
    '    switch $word',
    `      case ${valued(commands).join(' ')}`,
    '        set skip yes',
    "      case '-*'",
    "      case '*'",
    '        echo $word',
    '    end',
    '  end',
    'end',
    '# As many words, and these in front.',
    'function __guard_at',
    '  set -l typed (__guard_words)',
    // fish 3 takes no command in the index of a quoted variable
    '  set -l length (count $argv[2..-1])',
    '  test (count $typed) -ge $argv[1]; and test "$typed[1..$length]" = "$argv[2..-1]"',
    'end',
    'function __guard_exactly',
    '  test (count (__guard_words)) -eq $argv[1]; and __guard_at $argv',
    'end',
    '# What the program answers for the words typed so far: a value a line, a tab, and what it is.',
    'function __guard_ask',
    '  set -l typed (commandline -opc)',
    '  set -l current (commandline -ct)',
    '  $typed[1] __complete $typed[2..-1] "$current" 2>/dev/null',
    'end',
    'complete -c guard -f',
    ...commonFlags.map((flag) => flagLine('', flag)),
    ...firstWords(commands).map((first) => line('test -z "$(__guard_words)"', [first], summaryOf(commands, first))),
    ...commands.flatMap(commandLines),
    '',
  ].join('\n')

const valued = (commands: readonly CompletedCommand[]): readonly string[] => [
  ...new Set(
    [...commonFlags, ...commands.flatMap(({ flags }) => flags)].flatMap((flag) => (flag.valued ? flag.spellings : [])),
  ),
]

const summaryOf = (commands: readonly CompletedCommand[], first: string): string =>
  commands.find(({ id }) => id === first)?.summary ?? secondWords(commands, first).join(', ')

const commandLines = ({ id, summary, flags, args, many }: CompletedCommand): readonly string[] => {
  const words = id.split(' ')
  const [first = '', second] = words
  return [
    ...(second === undefined ? [] : [line(`__guard_exactly 1 ${first}`, [second], summary)]),
    ...flags.map((flag) => flagLine(`__guard_at ${words.length} ${id}`, flag)),
    ...args.flatMap((value, index) => {
      const here = many && index === args.length - 1 ? '__guard_at' : '__guard_exactly'
      const condition = `${here} ${words.length + index} ${id}`
      // in the order of the answer: the newest first
      if (value.isStored) return [`complete -c guard -n '${condition}' -k -a '(__guard_ask)'`]
      return [value.words.length === 0 ? `complete -c guard -n '${condition}' -F` : line(condition, value.words, '')]
    }),
  ]
}

const line = (condition: string, words: readonly string[], meaning: string): string =>
  `complete -c guard -n '${condition}' -a ${quoted(words.join(' '))}${meaning === '' ? '' : ` -d ${quoted(meaning)}`}`

const flagLine = (condition: string, { spellings, meaning, valued: takes, ...value }: CompletedFlag): string => {
  const names = spellings.map((text) => (text.startsWith('--') ? `-l ${text.slice(2)}` : `-s ${text.slice(1)}`))
  const taken = takes ? takenValue(value) : ''
  const when = condition === '' ? '' : ` -n '${condition}'`
  return `complete -c guard${when} ${names.join(' ')}${taken} -d ${quoted(meaning)}`
}

const takenValue = ({ words, isStored }: CompletedValue): string => {
  if (isStored) return ` -x -k -a '(__guard_ask)'`
  return words.length === 0 ? ' -r -F' : ` -x -a ${quoted(words.join(' '))}`
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** The completion script of zsh. */
const zshScript = (commands: readonly CompletedCommand[]): string =>
  posixScript(commands, {
    head: ['#compdef guard', '# Put this line into ~/.zshrc, below compinit: source <(guard completion zsh)'],
    words: 'words',
    at: 'CURRENT',
    first: 2,
    offer: [`compadd -- \${=1}`],
    ask: [
      'local -a values meanings',
      `local line`,
      `while IFS= read -r line; do`,
      `  values+=("\${line%%$'\\t'*}")`,
      `  meanings+=("\${line//$'\\t'/  }")`,
      `done < <("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)`,
      `compadd -l -d meanings -a values`,
    ],
    files: '_files',
    // from a folder of $fpath the file itself is the function
    tail: [`if [[ \${funcstack[1]} == _guard ]]; then _guard "$@"; else compdef _guard guard; fi`],
  })

/** The completion script of bash. */
const bashScript = (commands: readonly CompletedCommand[]): string =>
  posixScript(commands, {
    head: ['# Put this line into ~/.bashrc: eval "$(guard completion bash)"'],
    words: 'COMP_WORDS',
    at: 'COMP_CWORD',
    first: 1,
    offer: [`COMPREPLY=($(compgen -W "$1" -- "\${COMP_WORDS[COMP_CWORD]}"))`],
    ask: [
      'local line',
      'COMPREPLY=()',
      `while IFS= read -r line; do COMPREPLY+=("\${line%%$'\\t'*}"); done < <(`,
      `  "\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null`,
      ')',
    ],
    // where nothing is offered, bash itself completes files
    files: 'COMPREPLY=()',
    tail: ['complete -o default -F _guard guard'],
  })

const scripts: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** `guard completion`: what lets a shell complete this program's command lines, made of the commands there are. */
export const completion = (gateway: Gateway): Command => ({
  id: 'completion',
  args: '<bash|zsh|fish>',
  summary: 'print what lets a shell complete these commands; the first line says where to put it',
  example: [
    'eval "$(guard completion bash)"',
    'source <(guard completion zsh)',
    'guard completion fish > ~/.config/fish/completions/guard.fish',
  ],
  standalone: true,
  extensible: 'if_usable',
  async run({ args }, io) {
    const [shell = ''] = args
    const known = Object.keys(scripts)
    const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
    if (script === undefined)
      throw new GuardError(
        'USAGE',
        `There is no completion for "${terminalLine(shell)}"; there is ${known.join(', ')}.`,
        {
          known,
        },
      )
    io.out.write(script(completedCommands(gateway.registry(commandKind))))
    return 0
  },
})

/** How a shell of the family of sh says what completion needs. */
interface Dialect {
  /** Lines in front of the function. */
  readonly head: readonly string[]
  /** The words typed so far, the place of the one under the cursor, and that of the first behind the program's name. */
  readonly words: string
  readonly at: string
  readonly first: number
  /** Offers the words that its only argument holds. */
  readonly offer: readonly string[]
  /** Offers what the program answers for the words typed so far: a value a line, a tab, and what it is. */
  readonly ask: readonly string[]
  /** Leaves it to the shell, which offers files. */
  readonly files: string
  /** Lines behind the function. */
  readonly tail: readonly string[]
}

/** The completion script of bash or zsh: one function with a table of words. */
const posixScript = (commands: readonly CompletedCommand[], shell: Dialect): string =>
  [
    ...shell.head,
    '_guard_offer() {',
    ...indented(shell.offer),
    '}',
    '_guard_ask() {',
    ...indented(shell.ask),
    '}',
    '_guard() {',
    ...indented([...reading(commands, shell), ...answering(commands, shell)]),
    '}',
    ...shell.tail,
    '',
  ].join('\n')

const indented = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`)

/** Finds out which command is typed, how many arguments it has, and whether a flag waits for its value. */
const reading = (commands: readonly CompletedCommand[], { words, at, first, files }: Dialect): readonly string[] => [
  `local current="\${${words}[${at}]}" word='' id='' flag='' args=0 index`,
  `for ((index = ${first}; index < ${at}; index++)); do`,
  `  word="\${${words}[index]}"`,
  `  if [[ $word == -- ]]; then ${files}; return; fi`,
  "  if [[ -n $flag ]]; then flag=''; continue; fi",
  '  case "$word" in',
  `    ${valuedFlags(commands).join('|')}) flag="$word"; continue ;;`,
  '    -*) continue ;;',
  '  esac',
  '  case "$id $word" in',
  ...pairRow(commands),
  '    " "*) id="$word" ;;',
  '    *) args=$((args + 1)) ;;',
  '  esac',
  'done',
]

/** Offers what can stand under the cursor. */
const answering = (commands: readonly CompletedCommand[], { files }: Dialect): readonly string[] => [
  'if [[ -n $flag ]]; then',
  '  case "$id $flag" in',
  ...commands.flatMap(({ id, flags }) => flags.flatMap((flag) => valueRows(id, flag))).map((row) => `    ${row}`),
  `    *) ${files} ;;`,
  '  esac',
  'elif [[ $current == -* ]]; then',
  '  case "$id" in',
  ...commands.map(({ id, flags }) => `    '${id}') _guard_offer '${spelled([...flags, ...commonFlags])}' ;;`),
  `    *) _guard_offer '${spelled(commonFlags)}' ;;`,
  '  esac',
  'else',
  '  case "$id:$args" in',
  `    ':0') _guard_offer '${firstWords(commands).join(' ')}' ;;`,
  ...argumentRows(commands).map((row) => `    ${row}`),
  `    *) ${files} ;;`,
  '  esac',
  'fi',
]

const spelled = (flags: readonly CompletedFlag[]): string => flags.flatMap(({ spellings }) => spellings).join(' ')

const valuedFlags = (commands: readonly CompletedCommand[]): readonly string[] => [
  ...new Set(
    [...commonFlags, ...commands.flatMap(({ flags }) => flags)].flatMap(({ spellings, valued }) =>
      valued ? spellings : [],
    ),
  ),
]

/** Recognises the second word of a command. */
const pairRow = (commands: readonly CompletedCommand[]): readonly string[] => {
  const pairs = commands.flatMap(({ id }) => (id.includes(' ') ? [`'${id}'`] : []))
  const join = 'if [[ $args == 0 ]]; then id="$id $word"; else args=$((args + 1)); fi'
  return pairs.length === 0 ? [] : [`    ${pairs.join('|')}) ${join} ;;`]
}

const valueRows = (id: string, flag: CompletedFlag): readonly string[] => {
  const offer = offerOf(flag)
  return offer === undefined ? [] : flag.spellings.map((spelling) => `'${id} ${spelling}') ${offer} ;;`)
}

const offerOf = ({ words, isStored }: CompletedValue): string | undefined => {
  if (isStored) return '_guard_ask'
  return words.length === 0 ? undefined : `_guard_offer '${words.join(' ')}'`
}

/** The second words of a command of two, or words of an argument. */
const argumentRows = (commands: readonly CompletedCommand[]): readonly string[] => [
  ...firstWords(commands).flatMap((first) => {
    const more = [...secondWords(commands, first), ...(commands.find(({ id }) => id === first)?.args[0]?.words ?? [])]
    return secondWords(commands, first).length === 0 ? [] : [`'${first}:0') _guard_offer '${more.join(' ')}' ;;`]
  }),
  ...commands.flatMap(({ id, args, many }) =>
    args.flatMap((value, index) => {
      const offer = offerOf(value)
      const last = many && index === args.length - 1
      return offer === undefined ? [] : [`'${id}:'${last ? '*' : index}) ${offer} ;;`]
    }),
  ),
]
