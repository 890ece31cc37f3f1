import { plainSchema } from 'guard-gateway/core'
import { pointerKeys } from 'guard-gateway/lib/json'
import {
  examineTexts,
  mcpResultCheck,
  type PieceFinding,
  type ResultContext,
  type ResultPart,
} from 'guard-gateway/lib/mcp-check'

/** As the redactor calls what it hides. */
const KINDS = ['configured', 'name', 'key', 'private-key', 'token', 'url', 'card', 'iban'] as const
interface Options {
  /** What counts; absent: everything. */
  kinds?: string[]
}

/** Finds what the gateway's redactor takes for secrets; mail addresses are none here. */
export const secrets = mcpResultCheck({
  id: 'secrets',
  schema: plainSchema<Options>({
    type: 'object',
    additionalProperties: false,
    properties: { kinds: { type: 'array', minItems: 1, uniqueItems: true, items: { enum: [...KINDS] } } },
  }),
  mends: 'redact',

  find: (result, { kinds }, at) => {
    const counts = kinds === undefined ? () => true : (kind: string) => kinds.includes(kind) || UNABLE.has(kind)
    return examineTexts(result, (piece, part) => secretsIn(piece, redacted(piece, part, at), counts))
  },
})

const redacted = (piece: string, part: ResultPart, { redact }: ResultContext): string => {
  const text = part.kind === 'structured' ? redactedMember(piece, part, redact) : redact.text(piece)
  return ESCAPE.test(text)
    ? text
        .split('\n')
        .map((line) => redactedMarkdown(line, redact))
        .join('\n')
    : text
}

/** As converters to Markdown write what is in keys. */
const ESCAPE = /\\[_~.-]/
const ESCAPES = /\\([_~.-])/g

/** A line is looked at without its escapes, too; it keeps them where nothing is found. */
const redactedMarkdown = (line: string, redact: ResultContext['redact']): string => {
  if (!ESCAPE.test(line)) return line
  const plain = line.replace(ESCAPES, '$1')
  const text = redact.text(plain)
  return text === plain ? line : text
}

/** The value of a member is also judged by the name of the member. */
const redactedMember = (piece: string, { pointer }: ResultPart, redact: ResultContext['redact']): string => {
  const name = pointerKeys(pointer).findLast((key) => !/^\d+$/.test(key)) ?? ''
  const [text] = Object.values(redact.value({ [name]: piece }))
  return typeof text === 'string' ? text : redact.text(piece)
}

/** A finding for each line that changed, or for the whole piece where lines are gone. */
const secretsIn = (piece: string, text: string, counts: (kind: string) => boolean): readonly PieceFinding[] => {
  if (text === piece) return []
  const [before, after] = [piece.split('\n'), text.split('\n')]
  if (before.length !== after.length) return found(piece, text, 0, counts)
  let start = 0
  return before.flatMap((line, at) => {
    const at_start = start
    start += line.length + 1
    return line === after[at] ? [] : found(line, after[at] ?? '', at_start, counts)
  })
}

const found = (
  before: string,
  text: string,
  start: number,
  counts: (kind: string) => boolean,
): readonly PieceFinding[] => {
  const kinds = newKinds(text, before)
  if (kinds.length > 0 && !kinds.some(counts)) return []
  const reason = `holds what looks like a secret${kinds.length === 0 ? '' : ` (${kinds.join(', ')})`}`
  const certain = !kinds.some((kind) => UNABLE.has(kind))
  return [{ reason, certain, edit: { start, end: start + before.length, text } }]
}

/** What the redactor could not examine, it hides. */
const UNABLE: ReadonlySet<string> = new Set(['limit', 'fault'])

const MARK = /\[REDACTED:([a-z-]{1,32})\]/g

/** The kinds of what was hidden; marks that were there before are none. */
const newKinds = (text: string, before: string): readonly string[] => {
  const counts = new Map<string, number>()
  for (const [, kind = ''] of text.matchAll(MARK)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  for (const [, kind = ''] of before.matchAll(MARK)) counts.set(kind, (counts.get(kind) ?? 0) - 1)
  return [...counts].filter(([, count]) => count > 0).map(([kind]) => kind)
}
