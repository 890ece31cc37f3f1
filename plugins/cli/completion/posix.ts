import {
  type CompletedCommand,
  type CompletedFlag,
  type CompletedValue,
  commonFlags,
  firstWords,
  secondWords,
} from './words.ts'

/** How a shell of the family of sh says what completion needs. */
export interface Dialect {
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
export const posixScript = (commands: readonly CompletedCommand[], shell: Dialect): string =>
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
