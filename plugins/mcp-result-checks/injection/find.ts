import type { PieceFinding } from 'guard-gateway/lib/mcp-check'
import { anyGlob } from '#lib/glob'

export interface Options {
  /** Where links may lead; absent: anywhere. */
  hosts?: string[]
  /** Look for characters that people do not see. */
  hidden?: boolean
  /** Look for text that asks the agent to do something. */
  requests?: boolean
}

/** What is in a text to steer who reads it. */
export const injectionsIn = ({ hidden = true, requests = true, hosts }: Options) => {
  const isListed = hosts === undefined ? undefined : hostTest(hosts)
  return (piece: string): readonly PieceFinding[] => [
    ...(hidden ? hiddenText(piece) : []),
    ...(requests ? requestsIn(plainView(piece)) : []),
    ...(isListed === undefined ? [] : unlistedLinks(piece, isListed)),
  ]
}

type HostTest = (host: string) => boolean

/** Hosts are compared in small letters; `*` stands for any characters. */
const hostTest = (hosts: readonly string[]): HostTest => anyGlob(hosts.map((host) => host.toLowerCase()))

/** Without what ends the sentence around it. */
const LINK = /\b(?:https?|wss?|ftp):[\\/]{1,4}[^\s<>"'`)\]}]{0,2000}[^\s<>"'`)\]}.,;:!?]/gi

/** Links to other hosts than these. What is no address, or no host at all, is none of them. */
const unlistedLinks = (text: string, isListed: HostTest): readonly PieceFinding[] =>
  [...text.matchAll(LINK)]
    .filter(([link]) => !isListed(hostOf(link)))
    .map(({ 0: link, index }) =>
      removal('holds a link to a host that is not listed', index, index + link.length, 'link to a host not listed'),
    )

const hostOf = (link: string): string => URL.parse(link)?.hostname ?? ''

/** Letters that terminals and pages do not show, which repeat the letters of ASCII; flags of regions end with one of them. */
const TAGS = /[\u{e0001}\u{e0020}-\u{e007f}]+/gu
const FLAG = /^[\u{e0020}-\u{e007e}]{1,6}\u{e007f}$/u
const BLACK_FLAG = '\u{1f3f4}'
/** One chooses how the character before it looks; several in a row can only say something else. */
const SELECTORS = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{3,}/gu
/** Texts of the web hold single ones. */
const ZERO_WIDTH = /[\u200b-\u200d\u2060-\u2064\u180e\ufeff]{4,}/gu
const OVERRIDES = /[\u202d\u202e]+/gu
const EMBEDDINGS = /[\u202a\u202b\u2066-\u2068]+/gu
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/
/** Sets the clipboard of a terminal. */
const CLIPBOARD = /\u001b\]52;[^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)?/g
const STYLE = /\u001b\[([0-9;]{0,64})m/g
const MAY_HIDE = /[^\0-\u001a\u001c-\u007f]/

/** Characters that people do not see, or see in another order, and that are more than ordinary texts have of them. */
const hiddenText = (text: string): readonly PieceFinding[] => {
  if (!MAY_HIDE.test(text)) return []
  return [
    ...runs(text, TAGS, 'hidden text', 'tag characters').filter((run) => !isFlag(text, run)),
    ...runs(text, SELECTORS, 'hidden text', 'variation selectors in a row'),
    ...runs(text, ZERO_WIDTH, 'hidden text', 'characters without width in a row'),
    ...runs(text, OVERRIDES, 'reversed text', 'characters that reverse what follows'),
    ...(RIGHT_TO_LEFT.test(text)
      ? []
      : runs(text, EMBEDDINGS, 'reversed text', 'characters that reorder what follows')),
    ...runs(text, CLIPBOARD, 'terminal control', 'a terminal sequence that sets the clipboard'),
    ...concealed(text),
  ]
}

const runs = (text: string, pattern: RegExp, what: string, kind: string): readonly PieceFinding[] =>
  Array.from(text.matchAll(pattern), ({ 0: run, index }) =>
    removal(`hides text: ${kind}`, index, index + run.length, what),
  )

const isFlag = (text: string, { edit }: PieceFinding): boolean => {
  const { start = 0, end = 0 } = edit ?? {}
  return text.slice(Math.max(0, start - BLACK_FLAG.length), start) === BLACK_FLAG && FLAG.test(text.slice(start, end))
}

/** What a terminal is told not to show, to where it is told to show again. */
const concealed = (text: string): readonly PieceFinding[] => {
  const found: PieceFinding[] = []
  let from: number | undefined
  for (const { 0: sequence, 1: words = '', index } of text.matchAll(STYLE)) {
    const codes = styleCodes(words)
    if (from === undefined && codes.lastIndexOf(8) > lastReset(codes)) from = index
    else if (from !== undefined && lastReset(codes) > codes.lastIndexOf(8)) {
      found.push(removal(CONCEALS, from, index + sequence.length, 'hidden text'))
      from = undefined
    }
  }
  return from === undefined ? found : [...found, removal(CONCEALS, from, text.length, 'hidden text')]
}

const CONCEALS = 'hides text: a terminal sequence that conceals what follows'

const lastReset = (codes: readonly number[]): number => Math.max(codes.lastIndexOf(0), codes.lastIndexOf(28))

/** The codes of a sequence without the numbers of colours. */
const styleCodes = (words: string): readonly number[] => {
  const numbers = words.split(';').map(Number)
  const codes: number[] = []
  for (let at = 0; at < numbers.length; at++) {
    const code = numbers[at] ?? 0
    codes.push(code)
    if (code === 38 || code === 48 || code === 58) at += numbers[at + 1] === 2 ? 4 : 2
  }
  return codes
}

/** Signals this close belong together. */
const NEAR = 400
/** A sentence is removed whole unless it is longer. */
const SENTENCE = 600

/** Text that asks the agent to do something: one signal that nothing else gives, or several that come together. */
const requestsIn = (view: PlainView): readonly PieceFinding[] =>
  groups(signalsIn(view.text)).flatMap((group) => {
    if (!asks(group)) return []
    const first = Math.min(...group.map(({ start }) => start))
    const last = Math.max(...group.map(({ end }) => end))
    const start = sentenceStart(view.text, first)
    const end = sentenceEnd(view.text, last)
    const kinds = [...new Set(group.map(({ kind }) => kind))].join(', ')
    return [
      removal(
        `asks the agent to do something: ${kinds}`,
        view.place(start),
        view.place(end),
        'asks the agent to do something',
      ),
    ]
  })

const groups = (signals: readonly Signal[]): readonly (readonly Signal[])[] => {
  const made: Signal[][] = []
  let reach = -1
  for (const signal of signals.toSorted((one, other) => one.start - other.start)) {
    if (signal.start <= reach) made.at(-1)?.push(signal)
    else made.push([signal])
    reach = Math.max(reach, signal.end + NEAR)
  }
  return made
}

const asks = (group: readonly Signal[]): boolean => {
  const kinds = new Map(group.map((signal) => [signal.kind, signal]))
  const weight = [...kinds.values()].reduce((sum, one) => sum + one.weight, 0)
  return weight >= 3 && group.some(({ directed }) => directed)
}

const sentenceStart = (text: string, at: number): number => {
  const before = text.slice(Math.max(0, at - SENTENCE), at)
  const [last] = [...before.matchAll(/[.!?] |\n/g)].slice(-1)
  return last === undefined ? at : at - before.length + last.index + last[0].length
}

const sentenceEnd = (text: string, at: number): number => {
  const found = /[.!?](?=\s|$)|\n/.exec(text.slice(at, at + SENTENCE))
  return found === null ? Math.min(text.length, at) : at + found.index + (found[0] === '\n' ? 0 : 1)
}

/** Something that texts which steer an agent say, and where. */
interface Signal {
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
const signalsIn = (text: string): readonly Signal[] => [
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

/** A finding whose edit leaves a word about it in the place of what it found. */
const removal = (reason: string, start: number, end: number, what: string): PieceFinding => ({
  reason,
  certain: true,
  edit: { start, end, text: `[removed by Guard: ${what}]` },
})

/** A text as it is meant to be read: small letters, plain forms, no invisible characters, and single line breaks as blanks. */
interface PlainView {
  readonly text: string
  /** Where the character at an index begins in the original. */
  place(index: number): number
}

const NOT_ASCII = /[^\0-\x7f]/
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u
/** A line break that does not end a paragraph or an item. */
const SOFT_BREAK = /(?<=[^\n])\r?\n(?![\n\r*\-#>|\d])/g

const plainView = (original: string): PlainView => {
  const text = original.replace(SOFT_BREAK, (found) => ' '.repeat(found.length))
  return NOT_ASCII.test(text) ? mapped(text) : { text: text.toLowerCase(), place: (index) => index }
}

const mapped = (original: string): PlainView => {
  const places: number[] = []
  let text = ''
  let at = 0
  for (const character of original) {
    const plain = plainCharacter(character)
    for (let part = 0; part < plain.length; part++) places.push(at)
    text += plain
    at += character.length
  }
  return { text, place: (index) => places[index] ?? original.length }
}

const plainCharacter = (character: string): string => {
  if (character <= '\x7f') return character.toLowerCase()
  return INVISIBLE.test(character) ? '' : character.normalize('NFKC').toLowerCase()
}
