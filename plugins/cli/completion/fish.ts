import { type CompletedCommand, type CompletedFlag, commonFlags, firstWords, secondWords } from './words.ts'

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
    '  test (count $typed) -ge $argv[1]; and test "$typed[1..(count $argv[2..-1])]" = "$argv[2..-1]"',
    'end',
    'function __guard_exactly',
    '  test (count (__guard_words)) -eq $argv[1]; and __guard_at $argv',
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
    ...args.flatMap((choices, index) => {
      const here = many && index === args.length - 1 ? '__guard_at' : '__guard_exactly'
      const condition = `${here} ${words.length + index} ${id}`
      return [choices.length === 0 ? `complete -c guard -n '${condition}' -F` : line(condition, choices, '')]
    }),
  ]
}

const line = (condition: string, words: readonly string[], meaning: string): string =>
  `complete -c guard -n '${condition}' -a ${quoted(words.join(' '))}${meaning === '' ? '' : ` -d ${quoted(meaning)}`}`

const flagLine = (condition: string, { spellings, meaning, valued: takes, choices }: CompletedFlag): string => {
  const names = spellings.map((text) => (text.startsWith('--') ? `-l ${text.slice(2)}` : `-s ${text.slice(1)}`))
  const value = takes ? (choices.length === 0 ? ' -r -F' : ` -x -a ${quoted(choices.join(' '))}`) : ''
  const when = condition === '' ? '' : ` -n '${condition}'`
  return `complete -c guard${when} ${names.join(' ')}${value} -d ${quoted(meaning)}`
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
