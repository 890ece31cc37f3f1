import { isIgnorable } from './ignorable.ts'

/** How far a name makes its value a secret. */
export const Levels = {
  /** Not at all. */
  none: 0,
  /** In data always; in running text if the value looks like one: `token`, `otp`. */
  likely: 1,
  /** In data and in text: `secret`, `api_key`. */
  certain: 2,
  /** As `certain`, numbers too: `password`. */
  password: 3,
  /** The whole rest of the line is the value: `Authorization`, `Cookie`. */
  line: 4,
} as const
export type Level = (typeof Levels)[keyof typeof Levels]

/** Sensitive last words. */
const LAST: ReadonlyMap<string, Level> = new Map([
  ...['password', 'passwords', 'passwd', 'pwd', 'passphrase'].map((word) => [word, Levels.password] as const),
  ...['secret', 'credential', 'credentials', 'dsn'].map((word) => [word, Levels.certain] as const),
  ...['token', 'jwt', 'otp'].map((word) => [word, Levels.likely] as const),
  ...['cookie', 'cookies', 'authorization'].map((word) => [word, Levels.line] as const),
])

/** Sensitive last two words, also written as one. */
const LAST_TWO = [
  ['api', 'key'],
  ['access', 'key'],
  ['private', 'key'],
  ['signing', 'key'],
  ['encryption', 'key'],
  ['secret', 'key'],
  ['account', 'key'],
  ['connection', 'string'],
] as const
const PAIRS = new Set<string>(LAST_TWO.map((pair) => pair.join(' ')))

/** Endings that also count inside a word nobody separated: `PGPASSWORD`, `authtoken`. */
const ENDINGS: readonly (readonly [ending: string, level: Level])[] = [
  ...['password', 'passwd', 'passphrase'].map((ending) => [ending, Levels.password] as const),
  ...LAST_TWO.map((pair) => [pair.join(''), Levels.certain] as const),
  ...['clientsecret', 'authtoken', 'accesstoken', 'refreshtoken', 'bearertoken'].map(
    (ending) => [ending, Levels.certain] as const,
  ),
]

/** Names of cookies that carry a login by convention. */
const SESSION_COOKIES = new Set([
  'phpsessid',
  'jsessionid',
  'aspsessionid',
  'connect sid',
  'asp net session id',
  'laravel session',
])

/** What stands in a name for a part that was hidden; its kind is no word of the name. */
const MARK = /\[REDACTED:[a-z-]{3,12}\](?:#\d+)?/g

/** The lower-case words of a name: separators and changes of case divide, a number behind the last word does not count. */
export const wordsOf = (name: string): readonly string[] => {
  const words = visible(name)
    .replace(MARK, ' hidden ')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]/)
    .filter((word) => word !== '')
  while (words.length > 1 && /^\d+$/.test(words.at(-1) ?? '')) words.pop()
  const last = words.pop()
  return last === undefined ? words : [...words, last.replace(/(?<=[a-z])\d{1,8}$/, '')]
}

/** The name as a reader sees it: compatibility forms unified, invisible characters gone. */
const visible = (name: string): string => {
  if (/^[\x20-\x7e]*$/.test(name)) return name
  return Array.from(name.normalize('NFKC'), (character) =>
    isIgnorable(character.charCodeAt(0)) ? '' : character,
  ).join('')
}

const judge = (words: readonly string[], own: readonly string[]): Level => {
  const last = words.at(-1)
  if (last === undefined) return Levels.none
  const all = words.join(' ')
  if (PAIRS.has(words.slice(-2).join(' ')) || SESSION_COOKIES.has(all)) return Levels.certain
  const level = LAST.get(last) ?? ENDINGS.find(([ending]) => last.endsWith(ending))?.[1]
  if (level !== undefined) return level
  return own.some((name) => all === name || all.endsWith(` ${name}`)) ? Levels.certain : Levels.none
}

const MAX_KNOWN = 4_096
/** Longer names are judged by their end. */
const MAX_NAME = 128

/** A function that judges names, `names` being sensitive beside those built in; it remembers the names it met, in bounds. */
export const nameJudge = (names: readonly string[] = []): ((name: string) => Level) => {
  const own = names.map((name) => wordsOf(name).join(' ')).filter((name) => name !== '')
  const known = new Map<string, Level>()
  return (name) => {
    const seen = known.get(name)
    if (seen !== undefined) return seen
    const level = judge(wordsOf(name.slice(-MAX_NAME)), own)
    if (known.size >= MAX_KNOWN) known.clear()
    if (name.length <= MAX_NAME) known.set(name, level)
    return level
  }
}
