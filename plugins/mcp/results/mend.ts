import { applyEdits, type Edit } from 'guard-gateway/lib/json'
import type { Frame } from 'guard-gateway/lib/json-rpc'
import type { ResultFinding } from 'guard-gateway/lib/mcp-check'
import type { EditablePart } from './editable-part.ts'
import type { ReadResult } from './read-result.ts'

/** Carries out the edits of findings in the parts; gives the findings that cannot be mended. */
export const mend = ({ parts }: ReadResult, findings: readonly ResultFinding[]): readonly ResultFinding[] => {
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
export const mendedText = ({ text }: Frame, { parts }: ReadResult): string => {
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
