import {
  type CompletedCommand,
  type CompletedFlag,
  type CompletedValue,
  commonFlags,
  firstWords,
  secondWords,
} from './words.ts'

/** The completion script of fish: a line for each word, under the condition in which it is offered. */
export const fishScript = (commands: readonly CompletedCommand[]): string =>
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
