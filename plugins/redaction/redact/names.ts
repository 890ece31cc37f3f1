import { isIgnorable } from './ignorable.ts'

/** How far a name makes its value a secret. */
export const Levels = {
  /** Not at all. */
  none: 0,
  /** If the value looks like a secret, in data as in text, and not for what lies deeper: `auth`, `session`, `signature`. */
  opaque: 1,
  /** As `opaque`, and numbers of some digits: `pin`. */
  code: 2,
  /** If the value is a word and no outcome or count: `pass`. */
  word: 3,
  /** In data always; in running text if the value looks like one: `token`, `otp`. */
  likely: 4,
  /** In data and in text: `secret`, `api_key`. */
  certain: 5,
  /** As `certain`, numbers too: `password`. */
  password: 6,
  /** The whole rest of the line is the value: `Authorization`, `Cookie`. */
  line: 7,
} as const
export type Level = (typeof Levels)[keyof typeof Levels]

/** Sensitive last words. */
const LAST: ReadonlyMap<string, Level> = new Map(
  (
    [
      [
        Levels.password,
        'password passwords passwd pwd pswd passphrase passcode passwort kennwort senha contrasena wachtwoord parola salasana heslo lozinka adgangskode passord sifre authtok',
      ],
      [Levels.certain, 'secret credential credentials creds dsn psk tkn'],
      [Levels.likely, 'token jwt otp totp passe'],
      [Levels.line, 'cookie cookies authorization'],
      [Levels.word, 'pass pw'],
      [Levels.code, 'pin cvv cvc'],
      [
        Levels.opaque,
        'auth bearer session sess signature sig sas hmac seed mnemonic secrets tokens assertion verifier',
      ],
    ] as const
  ).flatMap(([level, words]) => words.split(' ').map((word) => [word, level] as const)),
)

/** What a sensitive `key` is of. */
const KEYS =
  'api access private signing encryption secret account license licence master service subscription functions function storage shared session auth root admin deploy integration recovery activation product registration app application consumer write ingest server merchant partner webhook hmac sas client'

/** Sensitive last two words, also written as one. */
const LAST_TWO: readonly (readonly [string, string])[] = [
  ...KEYS.split(' ').map((of) => [of, 'key'] as const),
  ['connection', 'string'],
  ['webhook', 'url'],
  ['webhook', 'uri'],
  ['sas', 'url'],
  ['seed', 'phrase'],
  ['recovery', 'phrase'],
  ['recovery', 'code'],
  ['recovery', 'codes'],
  ['backup', 'code'],
  ['backup', 'codes'],
  ['code', 'verifier'],
  ['client', 'assertion'],
  ['key', 'data'],
  ['auth', 'key'],
  ['key', 'base'],
  ['key', 'string'],
  ['server', 'key'],
  ['preshared', 'key'],
  ['shared', 'secret'],
  ['secret', 'string'],
  ['secret', 'str'],
  ['pass', 'phrase'],
  ['pass', 'word'],
]
const PAIRS = new Set<string>(LAST_TWO.map((pair) => pair.join(' ')))

/** Pairs that are written as one word by those who write words apart elsewhere. */
const JOINED = ['api key', 'access key', 'private key', 'signing key', 'encryption key', 'secret key', 'account key']
  .concat(['connection string', 'license key', 'master key', 'subscription key', 'webhook url', 'auth key'])
  .map((pair) => pair.replace(' ', ''))

/** Whose `pass` is a password. */
const PASS_OF = new Set(
  'become db database user smtp imap mail email mysql mariadb postgres pg redis mongo root admin ftp sftp ssh sudo login auth proxy http ldap vpn wifi key store keystore truststore account service app bind rabbitmq amqp mqtt client server host git registry docker sql basic'.split(
    ' ',
  ),
)

/** Endings that also count inside a word nobody separated: `PGPASSWORD`, `authtoken`. */
const ENDINGS: readonly (readonly [ending: string, level: Level])[] = [
  ...['password', 'passwd', 'passphrase', 'storepass', 'keypass', 'userpass', 'dbpass', 'sshpass'].map(
    (ending) => [ending, Levels.password] as const,
  ),
  ...[...JOINED, 'clientsecret', 'authtoken', 'accesstoken', 'refreshtoken', 'bearertoken'].map(
    (ending) => [ending, Levels.certain] as const,
  ),
]

/** Words for a password or a key in languages that other letters are used in, or several words. */
const FOREIGN =
  /(?:contraseña|clave (?:secreta|de acceso)|mot de passe|lösenord|hasło|heslo|şifre|parola|jelszó|пароль|парол|密码|密碼|口令|密钥|令牌|パスワード|暗証番号|비밀번호|암호|סיסמה|كلمة (?:السر|المرور)|κωδικός|รหัสผ่าน|mật khẩu)$/u

/** Names of cookies that carry a login by convention. */
const SESSION_COOKIES = new Set([
  'phpsessid',
  'jsessionid',
  'aspsessionid',
  'sessid',
  'connect sid',
  'asp net session id',
  'laravel session',
  'gitlab session',
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
    .split(/^[\x00-\x7f]*$/.test(name) ? /[^a-z0-9]/ : /[^\p{L}\p{M}\p{N}]/u)
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
  // charts name a secret of the cluster so
  if (level !== undefined && level > Levels.word) return all.startsWith('existing secret') ? Levels.none : level
  return isOwn(all, own) ? Levels.certain : weakLevel(words, all, level)
}

const weakLevel = (words: readonly string[], all: string, level: Level | undefined): Level =>
  level === Levels.word ? wordLevel(words) : (level ?? (isForeign(all) ? Levels.password : Levels.none))

const isForeign = (all: string): boolean => !/^[ -~]*$/.test(all) && FOREIGN.test(all)

const isOwn = (all: string, own: readonly string[]): boolean =>
  own.some((name) => all === name || all.endsWith(` ${name}`))

/** A `pass` of something that has passwords; one of another kind is a time through. */
const wordLevel = (words: readonly string[]): Level => {
  const of = words.at(-2)
  return of === undefined ? Levels.word : PASS_OF.has(of) ? Levels.password : Levels.none
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
