/** Something that texts which steer an agent say, and where. */
export interface Signal {
  readonly kind: string
  readonly start: number
  readonly end: number
  /** Three together are a request. */
  readonly weight: number
  /** It speaks to the agent; without such a signal there is no request. */
  readonly directed: boolean
}

interface Pattern extends Pick<Signal, 'kind' | 'weight' | 'directed'> {
  /** Every repetition in it is bounded. */
  readonly pattern: RegExp
}

const AGENT =
  '(?:ai|llm|language model|ai model|(?:ai |coding |virtual )?assistant|(?:ai |coding )agent|chatbot|claude|chatgpt|copilot|gemini|codex)'
const GAP = '[^.!?\\n]'
/** Words may be in bold or in quotes. */
const SPACE = '[ *_`"\']{1,4}'
const EARLIER = '(?:previous|prior|above|earlier|preceding|original|initial|former|foregoing)'

const patterns: readonly Pattern[] = [
  {
    kind: 'earlier instructions do not count',
    weight: 3,
    directed: true,
    pattern: new RegExp(
      `\\b(?:(?:ignore|disregard|forget|do not follow|don't follow|stop following|pay no attention to)${SPACE}(?:(?:all|any|every|each|of|the|these|those|my|everything in|your)${SPACE}){0,4}(?:${EARLIER}|system|your)|override${SPACE}(?:(?:all|any|the)${SPACE}){0,2}(?:${EARLIER}|your))(?: and ${GAP}{1,20}?)?${SPACE}(?:(?:user|system|safety|developer)${SPACE})?(?:instructions?|prompts?|directives?|directions|guidelines|commands|messages?|rules)\\b`,
      'g',
    ),
  },
  {
    kind: 'earlier instructions do not count',
    weight: 3,
    directed: true,
    pattern:
      /ignor(?:iere|ieren sie|e|ez|a|ad)\b.{0,20}\b(?:vorherigen|bisherigen|obigen|précédentes|antérieures|anteriores|previas)\b.{0,20}\b(?:anweisungen|instruktionen|instructions|instrucciones)|ignor(?:iere|ez|a|e)\b.{0,20}\b(?:les |las |le )?(?:instructions|instrucciones|istruzioni) (?:précédentes|ci-dessus|anteriores|previas|precedenti)|(?:忽略|无视|忽视).{0,8}(?:之前|以上|先前|前面|上述).{0,6}(?:指令|指示|提示|说明)|игнорируй(?:те)?.{0,12}предыдущие.{0,12}(?:инструкции|указания)|(?:以前|これまで|上記)の.{0,6}指示.{0,6}無視/g,
  },
  {
    kind: 'pretends to end the result',
    weight: 3,
    directed: true,
    pattern:
      /<\/(?:tool_results?|function_results?|tool_response|tool_output|untrusted[a-z_-]{0,20})>|<system-reminder>/g,
  },
  {
    kind: 'pretends to be the system or the user',
    weight: 2,
    directed: true,
    pattern:
      /<\|im_start\|> ?(?:system|user)|<\|start_header_id\|> ?(?:system|user)|<<sys>>|\[inst\]|<\/?(?:system|system_prompt|user_query)>|(?:^|\n) ?(?:system|system message|system override)(?: message| prompt| notice)?: (?=[^\n]{0,80}\b(?:you|must|instructions?)\b)/g,
  },
  {
    kind: 'speaks to an agent',
    weight: 2,
    directed: true,
    pattern: new RegExp(
      `\\b(?:if you are|if you're|you are|as) an? ${AGENT}s?\\b(?: (?:agent|assistant|model))?,? ?(?:reading|processing|summari[sz]ing|please|you must|you should|then|do|call|use|include)|\\b(?:note|message|notice|attention|important|instructions?|reminder|request)(?: (?:to|for))?:? (?:the |any |all |every )?${AGENT}s?\\b ?[:,-]|\\b(?:dear|hey|attention|hello) ${AGENT}s?\\b|\\b${AGENT}s?(?: (?:agents|assistants|models))? (?:reading|processing|parsing|summari[sz]ing) this\\b`,
      'g',
    ),
  },
  {
    kind: 'says what the agent must do',
    weight: 1,
    directed: true,
    pattern: new RegExp(
      `\\b(?:the|this|every|any) ${AGENT} (?:should|must|needs to|has to|shall) (?:now |first |also |always )?(?:call|use|run|execute|send|read|include|add|create|open|fetch|forward|post|reply|ignore|output|write|delete)\\b`,
      'g',
    ),
  },
  {
    kind: 'marked as important',
    weight: 1,
    directed: true,
    pattern:
      /<\/?(?:important|critical|instructions?|secret|hidden|sudo|admin)>|\[(?:important|system|admin|critical)\]/g,
  },
  {
    kind: 'keeps it from the user',
    weight: 1,
    directed: true,
    pattern: new RegExp(
      `\\b(?:do not|don't|never|without|must not|should not|shouldn't|avoid)\\b${GAP}{0,24}\\b(?:tell|telling|mention|mentioning|inform|informing|notify|notifying|reveal|revealing|disclose|disclosing|alert|alerting|asking|ask|let|show|showing)\\b${GAP}{0,40}\\buser\\b`,
      'g',
    ),
  },
  {
    kind: 'new instructions',
    weight: 1,
    directed: false,
    pattern:
      /\b(?:new|updated|real|actual|additional) (?:instructions?|task|objective|goal)\b ?(?:is|are|:)|\byour (?:new |only |real |next )?(?:task|instructions|objective|goal|job) (?:is|are)(?: now)?\b|\bfrom now on\b|\byou (?:must|have to|need to|are required to) (?:now |first |also |always |immediately )?(?:call|use|run|execute|send|read|include|add|create|open|fetch|forward|post|reply|respond|output|write|delete)\b|\b(?:before|after) (?:using|calling|doing|answering|responding|continuing)\b/g,
  },
  {
    kind: 'calls a tool',
    weight: 1,
    directed: false,
    pattern: new RegExp(
      `\\b(?:call|use|invoke|run|execute)\\b${GAP}{0,40}\\b(?:tool|function|curl|wget|bash|shell command)\\b|\\b(?:send|post|upload|forward|transmit|exfiltrate|email|e-mail|submit)\\b${GAP}{0,80}\\b(?:to|via|at)\\b ?(?:https?:|the following|this (?:url|address|endpoint|server)|[\\w.+-]{1,40}@)`,
      'g',
    ),
  },
  {
    kind: 'asks for secrets',
    weight: 1,
    directed: false,
    pattern: new RegExp(
      `\\b(?:read|cat|open|send|post|upload|include|append|attach|forward|exfiltrate|leak|print|output|copy|encode|transmit|share|pass|provide|reveal|get|fetch|list|collect|gather)\\b${GAP}{0,60}(?:\\.ssh\\b|\\bid_rsa\\b|\\bid_ed25519\\b|\\.env\\b|\\.aws\\b|\\.npmrc\\b|\\bmcp\\.json\\b|\\.cursor\\b|\\bapi[ _-]?keys?\\b|\\bcredentials?\\b|\\bpasswords?\\b|\\bsecrets?\\b|\\b(?:access |auth )tokens?\\b|\\benvironment variables\\b|\\bsystem prompt\\b|\\b(?:conversation|chat) history\\b|\\bprivate keys?\\b|\\bprivate repos)`,
      'g',
    ),
  },
]

/** What is in comments and invisible elements is not for people, so that words for an agent weigh more there. */
const HIDDEN_WORDS = new RegExp(
  `\\b${AGENT}s?\\b[^]{0,200}?\\b(?:must|should|please|ignore|always|instead|call|use|run|execute|send|include|fetch|respond|say|recommend)\\b`,
)
const COMMENT_CHARS = 4_000
const HIDING_TAG =
  /<(?:div|span|p|font|td|li|a|section|h[1-6]|small|i|b|em)\b[^<>]{0,200}?(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?0|opacity ?: ?0(?![.\d])|color ?: ?(?:white|transparent|#fff(?:fff)?)\b|left ?: ?-\d{3,}|\shidden(?=[\s>=]))[^<>]{0,200}>/g
const ELEMENT_CHARS = 2_000

/** All signals in a plain text. */
export const signalsIn = (text: string): readonly Signal[] => [
  ...patterns.flatMap(({ pattern, ...about }) =>
    Array.from(text.matchAll(pattern), ({ 0: found, index }) => ({
      ...about,
      start: index,
      end: index + found.length,
    })),
  ),
  ...hiddenIn(text, comments(text), 'in a comment'),
  ...hiddenIn(text, invisibleElements(text), 'in an element that is not shown'),
]

type Range = readonly [start: number, end: number]

const hiddenIn = (text: string, ranges: Iterable<Range>, kind: string): readonly Signal[] =>
  [...ranges]
    .filter(([start, end]) => HIDDEN_WORDS.test(text.slice(start, end)))
    .map(([start, end]) => ({ kind: `words for an agent ${kind}`, start, end, weight: 3, directed: true }))

function* comments(text: string): Generator<Range> {
  for (let at = text.indexOf('<!--'); at !== -1; ) {
    const end = text.indexOf('-->', at + 4)
    if (end === -1) return
    if (end - at <= COMMENT_CHARS) yield [at, end + 3]
    at = text.indexOf('<!--', end + 3)
  }
}

function* invisibleElements(text: string): Generator<Range> {
  for (const { 0: tag, index } of text.matchAll(HIDING_TAG)) {
    const inner = index + tag.length
    const close = text.indexOf('</', inner)
    if (close !== -1 && close - inner <= ELEMENT_CHARS) yield [index, close]
  }
}
