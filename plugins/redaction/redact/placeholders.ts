import { isMark } from './hit.ts'

/** Stands for a value that is filled in elsewhere, or is blanked out already. */
const PLACEHOLDER =
  /^(?:\$\{[^}]{0,200}\}|\$\([^)]{0,200}\)|\$[A-Z_][A-Z0-9_]{1,64}|\{\{.{0,200}\}\}|\{[\w.$: ]{0,64}\}|<[^<>]{0,100}>|%[A-Za-z_][A-Za-z0-9_]{0,64}%|%[sdv]|\[[A-Za-z _-]{0,40}\]|[*•x.#…_-]{3,}|[xX]{3,}|\.{2,}|your[-_ ].{0,60}|my[-_](?:api|secret|token|password)[-_\w]{0,40}|change[-_]?me|redacted|hidden|masked|placeholder|omitted)$/i

/** A value that is no secret wherever it stands: empty, a mark, a placeholder. */
export const isPlaceholder = (value: string): boolean =>
  value === '' || (value.length <= 256 && (isMark(value) || PLACEHOLDER.test(value)))

const AFTER_SCHEME =
  /^[A-Za-z][\w-]{1,30} +(?:<[^<>]{1,100}>|\$?\{{1,2}[^{}]{0,100}\}|\$[A-Z_]{2,64}|\.{2,}|…|\*{3,}|[xX]{3,})/

/** An authorization value whose credential is a placeholder: `Bearer <key>`. */
export const isSchemeOnly = (value: string): boolean => AFTER_SCHEME.test(value)

const REFERENCE = /(?:\$\{[^}\s]{0,200}\}|\$\([^)]{0,200}\)|\{\{[^}]{0,200}\}\}|<[^<>]{1,100}>)(?![\w:/@.~+=-])/y

/** A reference to a value that stands elsewhere begins at `from`, nothing joined to it: `${NAME}`, `{{ name }}`, `<name>`. */
export const refersAt = (text: string, from: number): boolean => {
  REFERENCE.lastIndex = from
  return REFERENCE.test(text)
}

/** Types and constants of programming languages, and states one writes behind a name. */
const NOT_A_VALUE = new Set(
  'string str text char varchar bytes byte buffer number int integer float double bool boolean any unknown object array list null nil none undefined void true false yes no optional required missing invalid valid expired empty unset set not_set secret password token value key bearer basic digest default example test in out header cookie query env file stdin prompt'.split(
    ' ',
  ),
)

/** The value is a type, a constant or a state, in any case of letters. */
export const isNoValue = (value: string): boolean => value.length <= 16 && NOT_A_VALUE.has(value.toLowerCase())

const CALL =
  /^(?:await |new |typeof )?[&*!]?[A-Za-z_$][\w$]{0,64}(?:(?:\.|\?\.|::|->)[A-Za-z_$#][\w$]{0,64}){0,8}!?(?:\(|\[['"`\w]|<[A-Za-z])/
const PATH =
  /^[&*!]?(?:process|os|env|import|config|conf|cfg|self|this|req|request|res|response|ctx|context|args|opts|options|settings|props|params|body|headers|secrets|vars|var|local|data|user|state|event|input|module|std|String|Option)(?:(?:\.|\?\.|::)[A-Za-z_$#][\w$]{0,64}){1,8}$/

const PATTERN = /^\/[[(^\\]/

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
