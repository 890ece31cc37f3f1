/** Names of content attributes of known senders. */
const contentNames = new Set([
  'gen_ai.input.messages',
  'gen_ai.output.messages',
  'gen_ai.system_instructions',
  'gen_ai.tool.definitions',
  'gen_ai.tool.call.arguments',
  'gen_ai.tool.call.result',
  'gen_ai.retrieval.query.text',
  'gen_ai.retrieval.documents',
  // Pydantic AI
  'all_messages_events',
  'pydantic_ai.all_messages',
  'final_result',
  // the gateway's own previews
  'guard.preview.input',
  'guard.preview.output',
])

/** Lists of messages, tools or documents that are flattened into numbered names, and families of names. */
const CONTENT_FAMILY = new RegExp(
  `^(?:${[
    'gen_ai\\.(?:prompt|completion)',
    'llm\\.(?:input_messages|output_messages|prompts|completions|choices|prompt_template|tools|function_call)',
    '(?:retrieval|reranker)\\.(?:input_|output_)?documents',
    'embedding\\.embeddings',
    'ai\\.(?:prompt|(?:response|result)\\.(?:text|object|reasoning|toolCalls|files)|toolCall\\.(?:args|result|input|output))',
  ].join('|')})`,
)

const words = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/))

/** Last words of names that hold what was said, asked, run or found. */
const CONTENT_WORDS = words(
  `
  input inputs output outputs prompt prompts completion completions content contents message messages msg text texts
  body payload data value values argument arguments arg args argv kwargs param params parameter parameters variables
  result results response responses request requests reply replies answer answers question questions query queries
  search sql statement instruction instructions description descriptions definition definitions schema template
  example examples command commands cmd cmdline script snippet stdin stdout stderr diff patch html markdown
  document documents passage passages chunk chunks attachment transcript history memory conversation dialog dialogue
  chat utterance speech thinking thought thoughts reasoning rationale explanation feedback summary title subject topic
  caption goal objective backstory context choice choices generation generations embedding embeddings vector vectors
  parts stack stacktrace traceback blob log logs
`.trim(),
)

/** Words that make a name one of content wherever they stand in it. */
const STRONG_WORDS = words('command commands cmd argv arguments prompt prompts messages completions transcript')

/** Last words of names that hold identifiers or states. */
const IDENTIFIER_WORDS = words(
  `
  id ids uuid guid name names type types kind model models version versions status state reason reasons role tool agent
  provider vendor system operation method language level severity host address port region zone tier environment hash
  digest sha256 sha fingerprint checksum unit currency source key scheme protocol format encoding tag tags
`.trim(),
)

/** The same run together with others, as in `userprompt`. */
const CONTENT_ENDING =
  /(?:prompt|input|output|message|content|response|command|argument|result|query|completion|instruction)s?$/

/** Words after which the last one but these counts: how the value is written. */
const WRITING = words('json yaml xml raw string str base64 b64 preview full delta truncated')

const ERROR_WORDS = words('error exception failure')
/** What is before the words of an error, as in `error.message`. */
const ERROR_PLACES = words('error exception failure status')
const ERROR_TEXT_WORDS = words('message description detail details reason text')

/** A name as lower-case words, without numbers and without words on how the value is written. */
const wordsOf = (name: string): readonly string[] => {
  const all = name
    .replace(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, '$1 ')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !/^\p{N}+$/u.test(word))
  while (all.length > 1 && WRITING.has(all.at(-1) ?? '')) all.pop()
  return all
}

/**
 * What the name of an attribute that nobody knows tells of its text: `content` goes; `error` may repeat content;
 * `free` is given by a user of the sender and kept as a single word; `identifier` may be longer than `plain`.
 */
export type NameClass = 'content' | 'error' | 'free' | 'identifier' | 'plain'

/** The class of a name that is not known to be harmless. */
export const classOfName = (name: string): NameClass => {
  if (contentNames.has(name) || CONTENT_FAMILY.test(name)) return 'content'
  const parts = wordsOf(name)
  const [before = '', last = ''] = [parts.at(-2), parts.at(-1)]
  if (ERROR_WORDS.has(last) || (ERROR_TEXT_WORDS.has(last) && ERROR_PLACES.has(before))) return 'error'
  if (IDENTIFIER_WORDS.has(last)) return 'identifier'
  if (CONTENT_WORDS.has(last) || CONTENT_ENDING.test(last) || parts.some((word) => STRONG_WORDS.has(word)))
    return 'content'
  return parts.includes('metadata') || parts.includes('properties') ? 'free' : 'plain'
}

const CONTENT_EVENT = /^gen_ai\.(?:.*\.message|choice)$/s

/** Span events that hold only content. */
export const isContentEvent = (name: string): boolean => CONTENT_EVENT.test(name)
