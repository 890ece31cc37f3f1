import { isDigit } from './alphabet.ts'
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
        'password passwords passwd pwd pswd passphrase passcode passwort kennwort senha contrasena wachtwoord parola salasana heslo lozinka adgangskode adgangskoden passord passordet sifre authtok requirepass masterauth rootpw bindpw olcrootpw passin passout psw mdp sandi motdepasse parool slaptazodis contrasenya contrasinal pasahitza jelszo geslo kodeord wagwoord nenosiri laluan losenord haslo',
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
const LAST_TWO: readonly (readonly string[])[] = [
  ...KEYS.split(' ').map((of) => [of, 'key']),
  ...'connection string,webhook url,webhook uri,sas url,seed phrase,recovery phrase,recovery code,recovery codes,backup code,backup codes,code verifier,client assertion,key data,auth key,key base,key string,server key,preshared key,shared secret,secret string,secure string,password input,password field,password box,secret str,pass phrase,pass word,clave secreta,clave acceso'
    .split(',')
    .map((pair) => pair.split(' ')),
]
const PAIRS = new Set<string>(LAST_TWO.map((pair) => pair.join(' ')))

/** Whose `pass` is a password. */
const PASS_OF = new Set(
  'become db database user smtp imap mail email mysql mariadb postgres pg redis mongo root admin ftp sftp ssh sudo login auth proxy http ldap vpn wifi key store keystore truststore account service app bind rabbitmq amqp mqtt client server host git registry docker sql basic'.split(
    ' ',
  ),
)

/** Endings that also count inside a word nobody separated: `PGPASSWORD`, `authtoken`. */
const ENDINGS: readonly (readonly [ending: string, level: Level])[] = (
  [
    [Levels.password, 'password passwd passphrase storepass keypass userpass dbpass sshpass'],
    [
      Levels.certain,
      'apikey accesskey privatekey signingkey encryptionkey secretkey accountkey connectionstring licensekey masterkey subscriptionkey webhookurl authkey clientsecret authtoken accesstoken refreshtoken bearertoken',
    ],
  ] as const
).flatMap(([level, endings]) => endings.split(' ').map((ending) => [ending, level] as const))

/** Words for a password or a key in languages that other letters are used in, or several words. */
const FOREIGN =
  /(?:contraseña|clave (?:secreta|de acceso)|mot de passe|lösenord(?:et)?|hasł(?:o|a|em)|heslo|şifre|parolă|jelszó|парол[ьяюема]{0,2}|पासवर्ड|密码|密碼|口令|密钥|令牌|パスワード|暗証番号|비밀번호|암호|סיסמה|(?:كلمة )?(?:السر|المرور)|κωδικός|รหัสผ่าน|(?:mật )?khẩu|slaptažodis|lykilorð|лозинка|სიტყვა|პაროლი|գաղտնաբառ|رمز(?: عبور)?|পাসওয়ার্ড|கடவுச்சொல்|συνθηματικό|合言葉|パスフレーズ|패스워드|私钥)$/u

/** Names of cookies that carry a login by convention. */
const SESSION_COOKIES = new Set(
  'phpsessid,jsessionid,aspsessionid,sessid,connect sid,asp net session id,laravel session,gitlab session'.split(','),
)

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

/** A key in the environment, which may be anyone's. */
const ofVariable = (name: string): Level =>
  /^[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*KEY$/.test(name) &&
  !/(?:PUBLIC|PRIMARY|FOREIGN|SORT|PARTITION|CACHE|HASH|IDEMPOTENCY|OBJECT|STORAGE|ROW|INDEX|MAP|DEDUPE|LOCK|GROUP|QUERY)_KEY$/.test(
    name,
  )
    ? Levels.opaque
    : Levels.none

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
    const level = judge(wordsOf(name.slice(-MAX_NAME)), own) || ofVariable(name)
    if (known.size >= MAX_KNOWN) known.clear()
    if (name.length <= MAX_NAME) known.set(name, level)
    return level
  }
}

/** Names that form a pair with a value, or head a group. */
const SIGNED =
  'name header label parameterkey field selector locator secret-id keyid accessid variable data stringdata sid string'
/** What holds the value of a pair. */
const PAIR_VALUES = 'value val default text'
/** The last letters of names in other alphabets. */
const LAST_LETTERS = 'ड|аьлеюям码碼令钥牌ド号호ה\u0631ςนłăóðა\u10d8ռ\u0632\u09a1\u0bcd葉ズ드'

/** Which words end a name whose value may follow: by the last three letters a bit for each letter before them. */
export interface Endings {
  readonly free: Uint32Array
  /** Only where a sign follows. */
  readonly signed: Uint32Array
  /** Only behind the name of a pair. */
  readonly paired: Uint32Array
  /** The last letters of names that end beyond ASCII. */
  readonly letters: ReadonlySet<number>
}

const placeOf = (text: string, end: number): number =>
  ((text.charCodeAt(end - 3) & 31) << 10) | ((text.charCodeAt(end - 2) & 31) << 5) | (text.charCodeAt(end - 1) & 31)

const mask = (words: readonly string[]): Uint32Array => {
  const masks = new Uint32Array(32_768)
  for (const word of words) {
    const lasts =
      word.length > 2 ? [word] : Array.from({ length: 32 }, (_none, third) => String.fromCharCode(96 + third) + word)
    for (const last of lasts) {
      const place = placeOf(last, last.length)
      masks[place] = (masks[place] ?? 0) | (last.length > 3 ? 1 << (last.charCodeAt(last.length - 4) & 31) : -1)
    }
  }
  return masks
}

/** What a scanner looks for at the end of each word, `names` being sensitive beside those built in. */
export const nameEndings = (names: readonly string[]): Endings => {
  const own = names.flatMap((name) => wordsOf(name).slice(-1))
  const certain = Array.from(LAST, ([word, level]) => (level > Levels.opaque ? [word] : [])).flat()
  const endings = ENDINGS.map(([ending]) => ending).filter((ending) => !/(?:string|url)$/.test(ending))
  const others =
    'key phrase secrets tokens hmac contraseña lösenord lösenordet hasło hasła hasłem şifre khẩu slaptažodis'
  const pairs = LAST_TWO.flatMap((pair) => [pair[1] ?? '', pair.join('')])
  const letters = [...LAST_LETTERS, ...own.map((word) => word.slice(-1))].map((letter) => letter.charCodeAt(0))
  return {
    free: mask([...certain, ...endings, ...own, ...others.split(' ')]),
    signed: mask([...LAST.keys(), 'url', ...pairs, ...SESSION_COOKIES, ...SIGNED.split(' ')]),
    paired: mask(PAIR_VALUES.split(' ')),
    letters: new Set(letters.filter((unit) => unit > 127)),
  }
}

/** What follows a name that counts with a sign alone. */
const SIGN = /[(.]|(?<=--[a-z-]{2,16})[ \t]|(?:\*\*|__)?\\?["'`]?[\]?]?[ \t]{0,8}[=:：]/y

/** The end of a name without the number behind it. */
const lastLetter = (text: string, end: number): number => {
  let last = end
  while (last > end - 8 && isDigit(text.charCodeAt(last - 1))) last--
  return text[last - 1] === '_' || text[last - 1] === '-' ? last - 1 : last
}

/** The word that ends here may be the end of a name whose value follows; `isPaired`: the value of a pair may follow. */
export const mayTell = (endings: Endings, text: string, end: number, isPaired: boolean): boolean => {
  const last = isDigit(text.charCodeAt(end - 1)) ? lastLetter(text, end) : end
  const place = placeOf(text, last)
  const bit = 1 << (text.charCodeAt(last - 4) & 31)
  if (((endings.free[place] ?? 0) & bit) !== 0) return true
  if (((endings.signed[place] ?? 0) & bit) === 0 && !(isPaired && ((endings.paired[place] ?? 0) & bit) !== 0))
    return false
  SIGN.lastIndex = end
  return SIGN.test(text)
}

/** The same for a name that ends beyond ASCII, in Cyrillic where its word ends. */
export const tellsBeyond = ({ letters }: Endings, text: string, at: number): boolean => {
  if (!letters.has(text.charCodeAt(at))) return false
  const next = text.charCodeAt(at + 1)
  return !(next >= 0x400 && next < 0x530)
}
