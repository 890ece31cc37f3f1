import type { AnyRow, AnyWhere, Redactor } from 'guard-gateway/core'
import { storedId } from 'guard-gateway/lib/ids'
import { type Plan, writtenColumn } from './plan.ts'

/** How rows are redacted; values in `cleaned` were redacted before and are not scanned again. */
export interface Cleaning {
  readonly redact: Redactor
  readonly cleaned: WeakSet<object>
}

const cleanTokens = (tokens: readonly string[], { redact }: Cleaning): readonly string[] =>
  tokens.every((token) => redact.text(token) === token)
    ? tokens
    : tokens.filter((token) => redact.text(token) === token)

const cleanValue = (kind: 'text' | 'json' | 'search', value: unknown, cleaning: Cleaning): unknown => {
  if (typeof value === 'object' && value !== null && cleaning.cleaned.has(value)) return value
  if (kind === 'json') return cleaning.redact.value(value)
  if (kind === 'search') return cleanTokens(value as readonly string[], cleaning)
  return typeof value === 'string' ? cleaning.redact.text(value) : value
}

/** The row with its secrets hidden; the same object if there are none. Throws UNKNOWN_COLUMN if a member is not declared. */
export const cleanRow = (plan: Plan, row: AnyRow, cleaning: Cleaning): AnyRow => {
  let copy: Record<string, unknown> | undefined
  let place = 0
  for (const name in row) {
    // members mostly stand in the order of the columns
    const expected = plan.written[place]
    const column = expected?.name === name ? expected : writtenColumn(plan, name)
    place = column.place + 1
    if (column.scrub === undefined) continue
    const value = row[name]
    if (value === undefined || value === null) continue
    const clean = cleanValue(column.scrub, value, cleaning)
    if (clean !== value) {
      copy ??= { ...row }
      copy[name] = clean
    }
  }
  return copy ?? row
}

/** Columns of ids from outside, which are stored as `storedId` gives them. */
const IDS = new Set(['project_id', 'agent_id', 'session_id', 'external_id', 'trace_id', 'task_id'])

const asStored = (id: unknown, redact: Redactor): unknown =>
  typeof id === 'string' ? (storedId(id, redact) ?? id) : id

/** The tests with ids as they are stored, so that what was stored under a hash is found by the id that was sent. */
export const storedWhere = (where: AnyWhere, redact: Redactor): AnyWhere => {
  let copy: Record<string, AnyWhere[string]> | undefined
  for (const name in where) {
    if (!IDS.has(name)) continue
    const test = where[name]
    const stored = asStored(test, redact)
    if (stored === test) continue
    copy ??= { ...where }
    copy[name] = stored as AnyWhere[string]
  }
  return copy ?? where
}

/** The key of a row to read, as `storedWhere`. */
export const storedKey = ({ key }: Plan, parts: readonly string[], redact: Redactor): readonly string[] =>
  parts.map((part, place) => (IDS.has(key[place] ?? '') ? String(asStored(part, redact)) : part))

/** The key as `cleanRow` would have stored it. */
export const cleanKey = (plan: Plan, key: readonly string[], { redact }: Cleaning): readonly string[] =>
  key.map((part, place) => (plan.scrubbedKey[place] === true ? redact.text(part) : part))
