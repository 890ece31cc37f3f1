import type { Gateway } from 'guard-gateway/core'
import {
  applyEdits,
  type Edit,
  isScanFault,
  type JsonValue,
  memberIn,
  parseJson,
  pointerPart,
  scanJson,
  sourceOf,
  stringIn,
} from '#lib/json'
import { type Frame, resultFrame } from '#lib/json-rpc'
import type { ResultContext, ResultFinding, ToolResult } from '#lib/mcp-check'
import { withheldResult } from '../actions/texts.ts'
import { type CheckDeadline, checkDeadline } from '../policy/checks.ts'
import type { CompiledResultCheck } from '../policy/compiled.ts'
import { displayReason } from '../policy/message.ts'
import { recordedFinding } from '../schemas/error-text.ts'
import type { RecordedFinding } from './recorded-finding.ts'
import { type EditablePart, editableText, NAME_CHARS, structuredParts } from './structured-parts.ts'

/** What came of checking a result. */
export interface CheckedResult {
  /** The message in place of the one that came; undefined: that one. */
  readonly text?: string
  readonly findings: readonly RecordedFinding[]
}

/** What checking the results of a server needs. */
export interface ResultParts {
  readonly gateway: Gateway
  readonly server_id: string
  /** Why a tool's structured result does not fit its `outputSchema`; undefined if it does, or if there is none. */
  readonly outputFault: (tool: string, value: unknown) => Promise<string | undefined>
  /** Names that records may show besides those of the protocol. */
  readonly shownNames: (tool: string) => ReadonlySet<string>
}

/** Members of results. */
const MEMBERS = [
  ...['content', 'structuredContent', 'isError', '_meta', 'error', 'message', 'data', 'code', 'toolResult', 'type'],
  ...['text', 'resource', 'uri', 'blob', 'mimeType', 'annotations', 'name', 'title', 'description', 'size', 'icons'],
]

/** What is kept of one result. */
const MAX_RECORDED = 50

/**
 * Lets the checks look at a result, one after the other, each at what those before it have left; what cuts comes last. What a check
 * objects to is recorded, mended, or makes the whole result be withheld; so does what cannot be mended.
 */
export const checkResult = async (
  { gateway, server_id, outputFault, shownNames }: ResultParts,
  frame: Frame,
  tool: string,
  checks: readonly CompiledResultCheck[],
): Promise<CheckedResult> => {
  const result = readResult(frame)
  if (result === undefined) return { findings: [] }
  const at: ResultContext = { server_id, tool, redact: gateway.service('resultRedactor').get() ?? gateway.redact }
  const recorded: RecordedFinding[] = []
  const wait = checkDeadline()
  try {
    for (const check of checks.toSorted(byTurn)) {
      const findings = [...unexamined(result), ...(await findingsOf(check, result, at, wait))]
      recorded.push(...acted(check, result, findings))
    }
  } finally {
    wait.end()
  }
  recorded.push(...(await misfits(frame, result, tool, recorded, outputFault)))
  if (recorded.length === 0) return { findings: [] }
  const names = new Set([...MEMBERS, ...shownNames(tool)])
  const findings = recorded
    .toSorted(deniedFirst)
    .slice(0, MAX_RECORDED)
    .map((one) => redactedFinding(recordedFinding(one, names), gateway))
  const [denied] = recorded.filter(({ action }) => action === 'deny')
  if (denied !== undefined) return { text: withheld(frame, tool, recorded), findings }
  return result.parts.some(({ changed }) => changed) ? { text: mendedText(frame, result), findings } : { findings }
}

const byTurn = (one: CompiledResultCheck, other: CompiledResultCheck): number => turn(one) - turn(other)
const turn = ({ check }: CompiledResultCheck): number => (check.mends === 'cut' ? 1 : 0)
const deniedFirst = (one: RecordedFinding, other: RecordedFinding): number =>
  Number(other.action === 'deny') - Number(one.action === 'deny')

const unexamined = ({ unexamined: left }: ReadResult): readonly ResultFinding[] =>
  left.map((one) => ({ ...one, certain: false }))

/** Does what the policy says about findings, and tells what was done about each. */
const acted = (
  { action, rule_id, check }: CompiledResultCheck,
  result: ReadResult,
  findings: readonly ResultFinding[],
): readonly RecordedFinding[] => {
  const isMending = action === 'redact' || action === 'cut'
  const left = new Set(isMending ? mend(result, findings) : [])
  return findings.map((finding) => {
    const { pointer, reason, certain } = finding
    return { rule_id, check: check.id, pointer, reason, certain, action: left.has(finding) ? 'deny' : action }
  })
}

/** A changed structure that its tool's schema does not allow is refused by clients, with an error that says nothing of why. */
const misfits = async (
  frame: Frame,
  result: ReadResult,
  tool: string,
  recorded: readonly RecordedFinding[],
  outputFault: ResultParts['outputFault'],
): Promise<readonly RecordedFinding[]> => {
  const isChanged = result.parts.some(({ kind, changed }) => kind === 'structured' && changed)
  const [last] = recorded.filter(
    ({ pointer, action }) => action !== 'shadow' && pointer.startsWith('/structuredContent'),
  )
  if (!isChanged || last === undefined) return []
  const fault = await outputFault(tool, structureIn(mendedText(frame, result)))
  if (fault === undefined) return []
  const reason = 'cannot be changed so that it still fits what the tool says of its results'
  return [{ ...last, pointer: '/structuredContent', reason, certain: true, action: 'deny' }]
}

const structureIn = (text: string): unknown => {
  const scan = scanJson(text, { keep: 2 })
  if (isScanFault(scan)) return undefined
  const structure = memberIn(memberIn(scan.root, 'result')?.value, 'structuredContent')?.value
  return structure === undefined ? undefined : parseJson(sourceOf(text, structure))
}

const redactedFinding = (finding: RecordedFinding, { redact }: Gateway): RecordedFinding => ({
  ...finding,
  pointer: displayReason(finding.pointer, redact),
  reason: displayReason(finding.reason, redact),
})

const withheld = ({ id = 'null' }: Frame, tool: string, recorded: readonly RecordedFinding[]): string =>
  resultFrame(
    id,
    JSON.stringify(
      withheldResult(
        tool,
        recorded.filter(({ action }) => action === 'deny'),
      ),
    ),
  )

/** What a check has against a result. One that fails, takes too long or answers anything else could not tell. */
const findingsOf = async (
  { check, options }: CompiledResultCheck,
  result: ToolResult,
  at: ResultContext,
  wait: CheckDeadline,
): Promise<readonly ResultFinding[]> => {
  try {
    const found = check.find(result, options as never, at)
    const first = found instanceof Promise ? await Promise.race([found, wait.over()]) : found
    if (first === 'over') return [uncertain('the check took too long')]
    return Array.isArray(first) && first.every(isFinding) ? first : [uncertain('the check failed')]
  } catch {
    return [uncertain('the check failed')]
  }
}

const uncertain = (why: string): ResultFinding => ({
  pointer: '',
  reason: `cannot be judged: ${why}`,
  certain: false,
})

const isFinding = (finding: unknown): boolean => {
  if (typeof finding !== 'object' || finding === null) return false
  const { pointer, reason, edit } = finding as Partial<ResultFinding>
  return typeof pointer === 'string' && typeof reason === 'string' && (edit === undefined || isEdit(edit))
}

const isEdit = ({ start, end, text }: NonNullable<ResultFinding['edit']>): boolean =>
  Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && typeof text === 'string'

/** Carries out the edits of findings in the parts; gives the findings that cannot be mended. */
const mend = ({ parts }: ReadResult, findings: readonly ResultFinding[]): readonly ResultFinding[] => {
  const left: ResultFinding[] = []
  const byPart = Map.groupBy(findings, ({ pointer }) => pointer)
  for (const [pointer, found] of byPart) {
    // of a member that is long its name is a part of its own, and cannot be changed
    const part = parts.find((one) => one.pointer === pointer && one.kind !== 'name')
    const isMendable = part !== undefined && !parts.some((one) => one.pointer === pointer && one.kind === 'name')
    const edits = found.flatMap(({ edit }) => edit ?? [])
    if (!isMendable || edits.length < found.length) left.push(...found)
    else change(part, edits)
  }
  return left
}

const change = (part: EditablePart, edits: readonly Edit[]): void => {
  part.text = part.kind === 'data' ? (edits[0]?.text ?? '') : applyEdits(part.text, apart(edits))
  part.bytes = Buffer.byteLength(part.text)
  part.changed = true
}

/** Edits that overlap as one that removes all of it. */
const apart = (edits: readonly Edit[]): readonly Edit[] => {
  const made: Edit[] = []
  for (const edit of edits.toSorted((one, other) => one.start - other.start)) {
    const last = made.at(-1)
    if (last === undefined || edit.start >= last.end) made.push(edit)
    else made[made.length - 1] = { start: last.start, end: Math.max(last.end, edit.end), text: last.text }
  }
  return made
}

/** The message with its changed parts; every other character stays. A content item whose data is left out becomes a text. */
const mendedText = ({ text }: Frame, { parts }: ReadResult): string => {
  const changed = parts.filter((part) => part.changed)
  const items = changed.filter(({ kind }) => kind === 'data')
  const within = ({ start, end }: EditablePart) => items.some((item) => item.start <= start && end <= item.end)
  const edits = [
    ...items.map(
      (item): Edit => ({ start: item.start, end: item.end, text: JSON.stringify({ type: 'text', text: item.text }) }),
    ),
    ...changed
      .filter((part) => part.kind !== 'data' && !within(part))
      .map(({ start, end, text: now }): Edit => ({ start, end, text: JSON.stringify(now) })),
  ]
  return applyEdits(text, edits)
}

/** A result as checks examine it, and why it cannot be examined as a whole. */
interface ReadResult extends ToolResult {
  readonly parts: readonly EditablePart[]
  readonly unexamined: readonly { readonly pointer: string; readonly reason: string }[]
}

/** Larger results are not examined: finding their parts would hold the event loop. */
const MAX_CHARS = 4_194_304
/** A structure can have as many values as characters. */
const MAX_STRUCTURE = 1_048_576
const MAX_PARTS = 10_000

const STRUCTURE = 'structuredContent'

/** A content item has a dozen members at most. */
const MAX_MEMBERS = 1_000

/** Its message says why. */
class Unexamined extends Error {}

const tooMany = () => new Unexamined(`has more than the ${MAX_PARTS} parts that are examined`)

/** Throws Unexamined. */
const upTo = (most: number, parts: Iterable<EditablePart>): EditablePart[] => {
  const taken: EditablePart[] = []
  for (const part of parts) if (taken.push(part) > most) throw tooMany()
  return taken
}

/** Reads the result of a `tools/call`: the texts and data in its content, and the texts of `structuredContent`; of an error its message and data. */
const readResult = ({ text, raw, result: resultValue, error, duplicate }: Frame): ReadResult | undefined => {
  const result = resultValue ?? error
  if (result === undefined) return undefined
  const above = resultValue === undefined ? '/error' : ''
  const structure = memberIn(result, STRUCTURE)?.value
  const structured_bytes = structure === undefined ? 0 : Buffer.byteLength(sourceOf(text, structure))
  const sizes = { structured_bytes, bytes: raw.length }
  const because = (pointer: string, reason: string) => ({ pointer, reason })
  const unread = (reason: string): ReadResult => ({ ...sizes, parts: [], unexamined: [because('', reason)] })
  if (result.end - result.start > MAX_CHARS)
    return unread(`is larger than the ${MAX_CHARS} characters that are examined`)
  if (duplicate !== undefined) return unread('has a member twice, so that two readers could see different things')
  const structures = structuresIn(text, result)
  const left = structures
    .filter(isLong)
    .map(({ name }) =>
      because(`${above}/${pointerPart(name)}`, `is larger than the ${MAX_STRUCTURE} characters that are examined`),
    )
  try {
    return { ...sizes, parts: upTo(MAX_PARTS, partsOf(text, result, structures, above)), unexamined: left }
  } catch (error) {
    if (error instanceof Unexamined) return unread(error.message)
    throw error
  }
}

/** Objects beside the content, as `structuredContent` and what earlier revisions had in its place; `_meta` is not for models. */
const structuresIn = (text: string, { members = [] }: JsonValue): readonly Member[] =>
  members.filter(
    ({ name, value }) => name === STRUCTURE || (name !== '_meta' && text.charCodeAt(value.start) === BRACE),
  )

const BRACE = 0x7b
const BRACKET = 0x5b
const QUOTE = 0x22

const isLong = ({ value: { start, end } }: Member): boolean => end - start > MAX_STRUCTURE

/** `above`: the pointer to where they are. */
function* partsOf(
  text: string,
  result: JsonValue,
  structures: readonly Member[],
  above: string,
): Generator<EditablePart> {
  // no server may answer so, and not all clients mind
  if (result.members === undefined) yield* nestedParts(text, result, above)
  for (const member of result.members ?? [])
    if (!structures.includes(member)) yield* contentParts(text, member, `${above}/${pointerPart(member.name)}`)
  for (const { name, value } of structures.filter((one) => !isLong(one)))
    yield* structuredParts(sourceOf(text, value), `${above}/${pointerPart(name)}`, value.start)
}

/** What a content item says of itself in one word, unless it is longer. */
const WORD_CHARS = 24
const WORDS: ReadonlySet<string> = new Set(['type', 'mimeType'])

/** The parts of the content, or a text beside it. */
function* contentParts(text: string, { value }: Member, at: string): Generator<EditablePart> {
  if ((value.items?.length ?? 0) > MAX_PARTS) throw tooMany()
  yield* textPart(text, value, at)
  for (const [index, item] of (value.items ?? []).entries()) yield* itemParts(text, item, `${at}/${index}`)
}

function* itemParts(text: string, item: JsonValue, pointer: string): Generator<EditablePart> {
  const members = membersOf(text, item)
  const type = stringIn(text, members.find(({ name }) => name === 'type')?.value)
  const data = type === 'image' || type === 'audio' ? 'data' : undefined
  if (members.length === 0) yield* otherPart(text, item, pointer)
  for (const { name, value } of members) {
    const at = `${pointer}/${pointerPart(name)}`
    const inner = name === 'resource' ? membersOf(text, value) : []
    if (inner.length === 0) yield* memberPart(text, { name, value, data }, item, at)
    for (const one of inner) yield* memberPart(text, { ...one, data: 'blob' }, item, `${at}/${pointerPart(one.name)}`)
  }
}

interface Member {
  readonly name: string
  readonly value: JsonValue
}

/** The members of an object; what is deeper than they are is stepped over. */
const membersOf = (text: string, value: JsonValue): readonly Member[] => {
  const scan = scanJson(sourceOf(text, value), { keep: 1 })
  const moved = ({ start, end }: JsonValue): JsonValue => ({ start: start + value.start, end: end + value.start })
  if (isScanFault(scan)) return []
  if ((scan.root.members?.length ?? 0) > MAX_MEMBERS) throw tooMany()
  return (scan.root.members ?? []).map((member) => ({ name: member.name, value: moved(member.value) }))
}

/** `data`: which member holds data in base64. */
function* memberPart(
  text: string,
  { name, value, data }: Member & { readonly data: string | undefined },
  item: JsonValue,
  pointer: string,
): Generator<EditablePart> {
  if (name.length > NAME_CHARS) yield editableText('name', name, value, pointer, 0)
  if (name === data && text.charCodeAt(value.start) === QUOTE) yield dataPart(text, value, item, pointer)
  else if (!isWord(name, value)) yield* otherPart(text, value, pointer)
}

/** `_meta` is not for models. */
const isWord = (name: string, { start, end }: JsonValue): boolean =>
  name === '_meta' || (WORDS.has(name) && end - start <= WORD_CHARS)

/** A text, or the texts in what no revision has there. */
function* otherPart(text: string, value: JsonValue, pointer: string): Generator<EditablePart> {
  const first = text.charCodeAt(value.start)
  if (first === BRACE || first === BRACKET) yield* nestedParts(text, value, pointer)
  else yield* textPart(text, value, pointer)
}

function* nestedParts(text: string, value: JsonValue, pointer: string): Generator<EditablePart> {
  if (value.end - value.start > MAX_STRUCTURE)
    throw new Unexamined(`has a structure larger than the ${MAX_STRUCTURE} characters that are examined`)
  yield* structuredParts(sourceOf(text, value), pointer, value.start)
}

function* textPart(text: string, value: JsonValue, pointer: string): Generator<EditablePart> {
  const found = stringIn(text, value)
  if (found !== undefined && found !== '') yield editableText('text', found, value, pointer, 0)
}

/** Four characters of base64 are three bytes. */
const dataPart = (text: string, { start, end }: JsonValue, item: JsonValue, pointer: string): EditablePart => {
  const padding = /=*"$/.exec(text.slice(Math.max(start, end - 3), end))?.[0].length ?? 1
  const bytes = Math.max(0, Math.floor(((end - start - 2) * 3) / 4) - (padding - 1))
  return { ...editableText('data', '', item, pointer, 0), bytes }
}
