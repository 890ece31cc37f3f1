import { type Approver, GuardError, type Secrets } from 'guard-gateway/core'

/** The keys that a gateway knows. */
export interface KnownKeys {
  readonly secrets: Secrets
  readonly approver: Approver
}

/** Exceptions: variables that a child gets although they look like keys. */
export interface ChildEnvOptions {
  /** Names that a person gives it. */
  readonly given?: readonly string[]
  /** Values that are its own: the configuration names them for this very child. */
  readonly own?: ReadonlySet<string>
  /** Names of variables that hold its user's login at a provider, which is to reach that provider; a key of the gateway does not pass under them. */
  readonly logins?: RegExp
}

/** The environment of a child process, and the names of withheld variables. */
export interface ChildEnv {
  readonly env: Readonly<Record<string, string>>
  readonly withheld: readonly string[]
}

const OURS = /^GUARD_/i

/** The way out of this machine is the user's, also where it takes a password that the configuration names. */
const PROXY = /(?:^|_)(?:https?|all|no)_proxy$/i

/** A secret this short may be any word or figure: it counts under the name of a credential alone. */
const SHORT = 8
const CREDENTIAL = /(?:key|token|secret|password|passwd|auth|authorization|credentials?|cookie|pat)(?:_?\d+)?$/i

/**
 * The environment that a child of this process gets: without a key of the gateway, of an approver or of a provider.
 * Withheld are `GUARD_…`, keys of model providers by their usual names or beginnings, and whatever holds a secret of the configuration under any name.
 */
export const childEnv = (
  env: Readonly<Record<string, string | undefined>>,
  known: KnownKeys,
  { given = [], own, logins }: ChildEnvOptions = {},
): ChildEnv => {
  const withheld: string[] = []
  const kept: [string, string][] = []
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue
    const isLeft = given.includes(name) || own?.has(value) === true
    if (!isLeft && isKey(name, value, known, logins)) withheld.push(name)
    else kept.push([name, value])
  }
  return { env: Object.fromEntries(kept), withheld }
}

/** What programs need to run at all, and no credential. */
const BASICS: readonly string[] =
  process.platform === 'win32'
    ? [
        'APPDATA',
        'HOMEDRIVE',
        'HOMEPATH',
        'LOCALAPPDATA',
        'PATH',
        'PATHEXT',
        'PROCESSOR_ARCHITECTURE',
        'SYSTEMDRIVE',
        'SYSTEMROOT',
        'TEMP',
        'USERNAME',
        'USERPROFILE',
        'PROGRAMFILES',
      ]
    : ['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER']
const LOCALE = /^LC_/

/** The environment of a child that a configuration starts, without what the configuration names for it. */
export const basicEnv = (
  env: Readonly<Record<string, string | undefined>>,
  known: KnownKeys,
): Readonly<Record<string, string>> => {
  const basic = Object.entries(env).filter(([name]) => LOCALE.test(name) || BASICS.includes(nameHere(name)))
  return childEnv(Object.fromEntries(basic), known).env
}

const nameHere = (name: string): string => (process.platform === 'win32' ? name.toUpperCase() : name)

const isKey = (name: string, value: string, known: KnownKeys, logins: RegExp | undefined): boolean => {
  if (OURS.test(name)) return true
  if (value === '' || PROXY.test(name)) return false
  if (isProviderKey(name, value) && !isLogin(name, value, logins)) return true
  if (value.length < SHORT && !CREDENTIAL.test(name)) return false
  return known.secrets.holds(value) || isApproverKey(value, known.approver)
}

const isLogin = (name: string, value: string, logins: RegExp | undefined): boolean =>
  logins?.test(name) === true && !isAdminKey(name, value)

/** What keys consist of, as this program makes them and as people do; around them stand quotes, schemes and addresses. */
const WORDS = [/[\w-]{8,}/g, /[\w+/=.~-]{8,}/g]

/** The configuration may know the approver key by its digest alone, which no text holds: each word is tried, and the whole. */
const isApproverKey = (value: string, approver: Approver): boolean => {
  if (!approver.needsKey) return false
  const words = new Set(WORDS.flatMap((word) => value.match(word) ?? []))
  return [value, value.trim(), ...words, ...[...words].map(decoded)].some((word) => opens(word, approver))
}

const decoded = (word: string): string => {
  const text = Buffer.from(word, 'base64').toString()
  return text.slice(text.indexOf(':') + 1).trim()
}

const opens = (key: string, approver: Approver): boolean => {
  try {
    approver.check(key)
    return true
  } catch {
    return false
  }
}

/** What was kept from a child, by name, and how it gets one all the same; empty if nothing was. */
export const withheldText = (whose: string, withheld: readonly string[], back: (name: string) => string): string => {
  const [first] = withheld
  if (first === undefined) return ''
  return `kept from ${whose} environment: ${withheld.join(', ')}; ${back(first)} gives one back`
}

/** The names after `--env`. Throws USAGE for what cannot be one; a value is not repeated, since it may be a key. */
export const envFlagNames = (flag: unknown): readonly string[] => {
  const names = [flag ?? []].flat().map(String)
  const odd = names.find((name) => !/^[^=\s]+$/.test(name))
  if (odd === undefined) return names
  const name = odd.split('=', 1)[0]?.trim() ?? ''
  const how = name === '' ? '' : ` Set it in your own environment: ${name}=… guard …`
  throw new GuardError('USAGE', `--env takes the name of a variable, and no value.${how}`)
}

/** Which of the names that a person gives a child are not there to be given; empty if all are. */
export const missingEnvText = (given: readonly string[], env: Readonly<Record<string, string | undefined>>): string => {
  const absent = given.filter((name) => env[name] === undefined)
  return absent.length === 0 ? '' : `--env gives nothing for ${absent.join(', ')}: not in this environment`
}

/** Model providers as they name their variables. */
const PROVIDERS = [
  'AI21',
  'AI_GATEWAY',
  'ANTHROPIC',
  'ANTHROPIC_FOUNDRY',
  'ANYSCALE',
  'AZURE_AI',
  'AZURE_OPENAI',
  'BASETEN',
  'CEREBRAS',
  'CHUTES',
  'CLAUDE',
  'CLAUDE_CODE',
  'CODEX',
  'COHERE',
  'DASHSCOPE',
  'DEEPINFRA',
  'DEEPSEEK',
  'FIREWORKS',
  'FIREWORKS_AI',
  'GEMINI',
  'GOOGLE_AI',
  'GOOGLE_GENAI',
  'GOOGLE_GENERATIVE_AI',
  'GROK',
  'GROQ',
  'HYPERBOLIC',
  'KIMI',
  'LITELLM',
  'MINIMAX',
  'MISTRAL',
  'MISTRALAI',
  'MOONSHOT',
  'NEBIUS',
  'NOVITA',
  'OLLAMA',
  'OPENAI',
  'OPENCODE',
  'OPENROUTER',
  'PERPLEXITY',
  'QWEN',
  'REPLICATE',
  'REQUESTY',
  'SAMBANOVA',
  'SILICONFLOW',
  'TOGETHER',
  'TOGETHERAI',
  'TOGETHER_AI',
  'VENICE',
  'VOYAGE',
  'VOYAGEAI',
  'WATSONX',
  'XAI',
  'ZAI',
  'ZHIPU',
  'ZHIPUAI',
]
/** Those that sell more than models: only what is called an API key, or a token that lets in, is one. */
const CLOUDS = ['AZURE', 'GOOGLE', 'HF', 'HUGGINGFACE', 'HUGGINGFACEHUB', 'NVIDIA', 'VERTEX']

const API_KEY = '(?:API_?KEYS?|API_?TOKENS?|ADMIN_(?:API_)?KEY|AUTH_TOKEN|OAUTH_TOKEN|ACCESS_TOKEN|AD_TOKEN)'
/** One word more tells keys apart, as `_BACKUP`; these say that it is none. */
const FURTHER = '(?:_?\\d+|_(?!(?:FILE|PATH|HELPER|NAME|URL|CMD|COMMAND|ID)$)[A-Z0-9]+)?'

const wordsOf = (names: readonly string[]): string => `(?:${names.join('|')})`

const NAMES = [
  `${wordsOf([...PROVIDERS, ...CLOUDS])}_${API_KEY}${FURTHER}`,
  `${wordsOf(PROVIDERS)}_(?:SECRET_)?(?:KEY|TOKEN)(?:_?\\d+)?`,
  'AWS_BEARER_TOKEN_BEDROCK',
].map((name) => new RegExp(`(?:^|_)${name}$`, 'i'))

/** Prefixes of the keys that model providers issue. */
const ISSUED =
  /(?<![A-Za-z0-9_-])(?:sk-(?:ant|proj|svcacct|service|admin|or-v1)-[\w-]{16,}|(?:gsk_|xai-|pplx-|csk-|nvapi-|tgp_v1_)[\w-]{30,}|(?:ABSK|bedrock-api-key-)[\w+/=-]{40,})/

const SWITCH = /^(?:[01]|true|false|yes|no|on|off)$/i
const ADMIN = /ADMIN/i

/** A variable holds the key of a model provider: its name is usual for one, whatever is before it, or its value starts as those of a provider do. */
const isProviderKey = (name: string, value: string): boolean =>
  !SWITCH.test(value) && (NAMES.some((names) => names.test(name)) || ISSUED.test(value))

/** An administration key of a provider is no login of a user. */
const isAdminKey = (name: string, value: string): boolean => ADMIN.test(name) || /\bsk-(?:ant-)?admin/.test(value)
