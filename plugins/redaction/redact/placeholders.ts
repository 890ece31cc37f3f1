import { isMark } from './hit.ts'

/** Stands for a value that is filled in elsewhere, or is blanked out already. */
const PLACEHOLDER =
  /^(?:\$\{[^}]{0,200}\}|\$\([^)]{0,200}\)|\$[A-Z_][A-Z0-9_]{1,64}|\{\{.{0,200}\}\}|\{[\w.$: ]{0,64}\}|<[^<>]{0,100}>|%[A-Za-z_][A-Za-z0-9_():]{0,64}%|%[sdv]|%~?\d|\[[A-Za-z _-]{0,40}\]|[*•x.#…_-]{3,}|[xX]{3,}|\.{2,}|your[-_ ].{0,60}|my[-_](?:api|secret|token|password)[-_\w]{0,40}|change[-_]?me|redacted|hidden|masked|placeholder|omitted|\?|\$\d|:[a-z_]{1,32}|@[a-z._]{1,40}@|[A-Za-z_]{2,12}[-_](?:[xX*•.#…_-]{3,}|\.{2,}|…)|(?:todo|tbd|tba|none|n\/a)|.{0,12}(.)\1{9,}.{0,4})$/i

/** A value that is no secret wherever it stands: empty, a mark, a placeholder. */
export const isPlaceholder = (value: string): boolean =>
  value === '' || (value.length <= 256 && (isMark(value) || PLACEHOLDER.test(value)))

const AFTER_SCHEME =
  /^[A-Za-z][\w-]{1,30} +(?:(?:your|YOUR)[-_]|<[^<>]{1,100}>|\$?\{{1,2}[^{}]{0,100}\}|\$[A-Z_]{2,64}|\.{2,}|…|\*{3,}|[xX]{3,})/

/** An authorization value whose credential is a placeholder: `Bearer <key>`. */
export const isSchemeOnly = (value: string): boolean => AFTER_SCHEME.test(value)

const REFERENCE = /(?:\$\{[^}\n]{0,200}\}|\$\([^)]{0,200}\)|\{\{[^}]{0,200}\}\}|<[^<>]{1,100}>)(?![\w:/@.~+=-])/y

/** A reference to a value that stands elsewhere begins at `from`, nothing joined to it: `${NAME}`, `{{ name }}`, `<name>`. */
export const refersAt = (text: string, from: number): boolean => {
  REFERENCE.lastIndex = from
  return REFERENCE.test(text)
}

/** Types and constants of programming languages, and states one writes behind a name. */
const NOT_A_VALUE = new Set(
  'string str text char varchar bytes byte buffer number int integer float double bool boolean any unknown object array list null nil none undefined void true false yes no optional required missing invalid valid expired empty unset set not_set secret password token value key bearer basic digest default example test in out header cookie query env file stdin prompt include omit same-origin inherit enabled disabled strict strong weak always never oidc oauth oauth2 external internal anonymous trust md5 plain hidden obligatorio obligatoire erforderlich requerido verplicht obbligatorio обязательно обязательный 必填 必須 必须 필수'.split(
    ' ',
  ),
)

/** Words for passwords and keys, in whatever language a form may have them. */
const LABEL =
  /pass(?:word|wort|wd|phrase|code|ord)|kennwort|contrase|senha|wachtwoord|mot de passe|lösenord|hasło|heslo|parola|salasana|token|secret|geheimnis|\bkey|\bclé|\bapi\b|credential|passord|adgangskode|şifre|пароль|парол|密码|密碼|口令|密钥|令牌|パスワード|비밀번호|암호|mật khẩu|סיסמה|κωδικός|รหัสผ่าน/iu
/** Where something is kept, which opens nothing: paths, names of a key store. */
const LOCATION =
  /^(?:(?:alias|aws|kms|secrets?|vault|projects|arn|gs|s3|file|env|op|ssm)[:/][\w./:@#-]*|[a-z]+(?:\/[a-z_-]+)+|\.{0,2}\/[\w./-]+|~\/[\w./-]+|[a-z][a-z_]*(?:\.[a-z][a-z_]*){2,6}|[A-Za-z]:\\.*)$/

/** A text for people to read beside a field: words of letters, one of which says what the field is, or a sentence. */
export const isLabel = (value: string): boolean => {
  if (value.length > 200 || !/^[¿¡«„“(]?[\p{L}\p{M}][\p{L}\p{M}\p{N}'’:,;.()/ -]*[?!….:*]{0,3}$/u.test(value))
    return false
  const words = value.split(/\s+/)
  if (words.length > 1) return LABEL.test(value) || isProse(words)
  return !/\p{N}/u.test(value) && LABEL.test(value) && value.length <= 24
}

/** What stands where a secret could stand, and is none: a placeholder, a type, a state, a reference, a label. */
export const isNone = (value: string): boolean =>
  isPlaceholder(value) || isNoValue(value) || isLabel(value) || LOCATION.test(value)

/** The name at `start` is a part of what a cloud calls a resource: `arn:aws:secretsmanager:…:123456789012:secret:name`. */
export const isResource = (text: string, start: number): boolean =>
  text[start - 1] === ':' && /\d{12}:$/.test(text.slice(start - 13, start))

/** The value is a type, a constant or a state, in any case of letters. */
export const isNoValue = (value: string): boolean => value.length <= 16 && NOT_A_VALUE.has(value.toLowerCase())

const CALL =
  /^(?:await |new |typeof )?[&*!@]?[A-Za-z_$][\w$]{0,64}(?:(?:\.|\?\.|::|->)[A-Za-z_$#][\w$]{0,64}){0,8}!?(?:\(|\[['"`\w]|<[&'A-Za-z])/
const PATH =
  /^[&*!]?(?:process|os|env|import|config|conf|cfg|self|this|req|request|res|response|ctx|context|args|opts|options|settings|props|params|body|headers|secrets|vars|var|local|data|user|state|event|input|module|std|String|Option)(?:(?:\.|\?\.|::)[A-Za-z_$#][\w$]{0,64}){1,8}$/

const PATTERN = /^(?:\/[[(^\\]|\.[*+][?/]|\.\*$|\(\?|\[\^|\\[sSwWdDb][*+)]|\([^)\s]{0,8}[*+]\))/

/** The value is an expression of a program: a call, an index, a member of something usual, a pattern. */
export const isExpression = (value: string): boolean =>
  PATTERN.test(value) || CALL.test(value.slice(0, 700)) || PATH.test(value.slice(0, 700))

/** Words that make a line a sentence. */
const FUNCTION_WORDS = new Set(
  'a an and are as at be been by can cannot could do does for from had has have if in into is it its may might must no not of on only or our shall should so than that the their them then there they this to was we were when where which will with without you your'.split(
    ' ',
  ),
)

/** The words are a sentence rather than a passphrase. */
export const isProse = (words: readonly string[]): boolean =>
  words.some((word) => FUNCTION_WORDS.has(word.toLowerCase().replace(/[^a-z]/g, '')))

/** The value does not look like a word or a name: digits among letters, signs, or great length. */
export const isOdd = (value: string): boolean => {
  if (value.length < 6) return false
  const plain = /^[A-Za-z_$][A-Za-z_$.-]*[:?!.]?$/.test(value)
  if (plain) return value.length > 32 && !/[._-]/.test(value)
  return /[A-Za-z]/.test(value) ? /\d|[!@#$%^&*~+=?/]/.test(value) : value.length >= 8
}
