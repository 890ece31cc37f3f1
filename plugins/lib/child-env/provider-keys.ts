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
export const isProviderKey = (name: string, value: string): boolean =>
  !SWITCH.test(value) && (NAMES.some((names) => names.test(name)) || ISSUED.test(value))

/** An administration key of a provider is no login of a user. */
export const isAdminKey = (name: string, value: string): boolean =>
  ADMIN.test(name) || /\bsk-(?:ant-)?admin/.test(value)
