import { cutText } from '#lib/text'
import { visibleLine } from '../management/visible-line.ts'
import type { DraftedRule } from './drafted-rules.ts'
import type { SeenTool } from './seen-calls.ts'
import type { ToolPlan } from './tool-plan.ts'

const NAME_CHARS = 60
const DESCRIPTION_CHARS = 90
const LIST_CHARS = 200

const WORDS: Readonly<Record<DraftedRule['kind'], readonly string[]>> = {
  reads: ['They only read, as their names say. What they may read stands below.'],
  said_to_read: [
    'They only read, says their server, and nothing else does: no reason to let them through.',
    'EDIT: allow in place of confirm, if you trust its words.',
  ],
  opens: ['They open addresses.'],
  runs: ['They run commands.'],
  queries: ['They run SQL.'],
  changes: [
    'They change something, or nothing says that they do not.',
    'EDIT: allow in place of confirm what needs no question.',
  ],
  unjudged: ['They take something that no check can judge, or their arguments are not known.'],
  path: ['Files: inside of your folder, none that holds secrets.'],
  option: ['Names that a program would take for options if they began with a dash.'],
  http: ['Addresses: none of this machine, its network or its cloud.'],
  shell: [],
  sql: [],
  none: [],
}

/** What stands above a rule. */
export const ruleComment = ({ role, kind, plans }: DraftedRule): readonly string[] => {
  if (role === 'list') return ['What is listed here needs no question; everything else is asked about.']
  const left = plans.flatMap(({ leftOut }) => leftOut)
  const open = plans.flatMap(({ uses }) => uses.filter(({ fit }) => fit === 'none').map(({ name }) => name))
  if (role === 'bounds')
    return [
      ...WORDS[kind],
      'It stops what is beyond, and the rules above say the rest. A tool that stands here alone is let through.',
    ]
  if (left.length > 0) return [...WORDS[kind], `No check can judge ${named(left)}: a call that has it is denied.`]
  return open.length > 0
    ? [...WORDS[kind], `No check can judge ${named(open)}: read it before you say yes.`]
    : WORDS[kind]
}

const named = (names: readonly string[]): string =>
  quoted([...new Set(names)].map((name) => quoted(name, NAME_CHARS)).join(', '), LIST_CHARS)

/** What is known of a tool, beside its name: what the reading of it rests on, its server's words in quotes, and calls on record. */
export const toolComment = ({ tool, reading }: ToolPlan, seen: SeenTool | undefined): string => {
  const description = tool.description ?? tool.title
  return [
    reading.evidence.map((words) => quoted(words, LIST_CHARS)).join('; '),
    ...(description === null ? [] : [`"${quoted(description, DESCRIPTION_CHARS)}"`]),
    ...(seen === undefined ? [] : [`called ${times(seen.calls)}, ${seen.forwarded} let through`]),
  ].join('; ')
}

export const times = (count: number): string => (count === 1 ? 'once' : `${count} times`)

/** What a draft is made of, for its first lines. */
export interface DraftFacts {
  readonly server_ids: readonly string[]
  readonly date: string
  readonly tools: number
  /** Tools that no rule is about. */
  readonly uncovered: readonly string[]
  readonly tooMany: number
  readonly calls: number
  readonly since: string | undefined
  /** Calls whose arguments are on record. */
  readonly withArguments: number
  readonly dropped: number
}

const MAX_NAMED = 20

/** The first lines: where it comes from, what it leaves out, and what to do with it. */
export const headComment = (facts: DraftFacts): readonly string[] => [
  `A draft for ${named(facts.server_ids)}, made on ${facts.date} from ${count(facts.tools, 'tool')} and ${count(facts.calls, 'call')} on record${facts.since === undefined ? '' : ` since ${quoted(facts.since, NAME_CHARS)}`}.`,
  'In shadow everything passes, and the audit and /mcp say what would have been stopped. In five minutes:',
  '1. Say at vars which folder the tools may work in.',
  '2. Read the rules: the strictest one that names a tool wins. What is marked EDIT waits for you. What a server says is in quotes, unchecked.',
  '3. guard mcp validate-policy and guard mcp simulate try this file; then write enforce in place of shadow.',
  ...leftOutLines(facts),
]

const leftOutLines = ({ uncovered, tooMany, calls, withArguments, dropped }: DraftFacts): readonly string[] => {
  const are = (number: number): string => (number === 1 ? 'is' : 'are')
  const names = uncovered.slice(0, MAX_NAMED).map((name) => `"${quoted(name, NAME_CHARS)}"`)
  const hidden = calls - withArguments
  return [
    ...(hidden > 0
      ? [
          `Of ${count(hidden, 'call')} only hashes of the arguments are on record, so tests are made from schemas. storage.full_content_logging: true`,
          'in guard-config.yml keeps arguments, redacted: let the agent work for a while, and draft again.',
        ]
      : []),
    ...(uncovered.length === 0
      ? []
      : [
          `In no rule, and asked about, for a name that is a pattern or shows something else: ${names.join(', ')}${uncovered.length > MAX_NAMED ? ' and others' : ''}.`,
        ]),
    ...(tooMany === 0
      ? []
      : [`${count(tooMany, 'further tool')} ${are(tooMany)} in no rule, and asked about: more do not fit.`]),
    ...(dropped === 0 ? [] : [`${count(dropped, 'test')} that did not come out ${are(dropped)} left out.`]),
  ]
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`

/** Words from outside on one line of a comment: nothing hidden, nothing that ends the line, about as long as said at most. */
const quoted = (text: string, max: number): string => {
  // the head is enough to look at: a description may be long
  const line = visibleLine(cutText(text.trimStart(), 4 * max))
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length > max ? `${cutText(line, max)}…` : line
}
