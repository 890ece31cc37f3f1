import { GuardError } from 'guard-gateway/core'
import { parseJson, pointerKeys } from '#lib/json'
import type { Arguments } from '#lib/mcp-check'
import { type Replace, removeAt, replaceAt, type Segments, setAt } from './changes.ts'

/** One change of a policy's `transform`, as its file has it. Keys are JSON pointers. */
export interface ChangeSource {
  readonly remove?: string
  readonly set?: Readonly<Record<string, unknown>>
  readonly clamp?: Readonly<Record<string, { readonly min?: number; readonly max?: number }>>
  readonly redact?: { readonly pointer: string; readonly pattern: string; readonly with: string }
}

/** A change ready for use: the source text of arguments to the changed one. */
export type Change = (text: string) => string

/** Arguments changed on their way to the server. */
export interface Changed {
  /** The client's text in which only what changed is written again. */
  readonly text: string
  readonly arguments: Arguments
}

/** Applies the changes in order; undefined if they change nothing. */
export const transformed = (text: string, changes: readonly Change[]): Changed | undefined => {
  const sent = changes.reduce((so_far, change) => change(so_far), text)
  return sent === text ? undefined : { text: sent, arguments: parseJson(sent) as Arguments }
}

/** Makes a change ready for use. Throws what the pattern engine says of a pattern that it cannot run, and GuardError INVALID_POLICY for one that matches everywhere. */
export const compileChange = async ({ remove, set, clamp, redact }: ChangeSource): Promise<Change> => {
  if (remove !== undefined) {
    const segments = pointerKeys(remove)
    return (text) => removeAt(text, segments)
  }
  if (set !== undefined) return setting(set)
  if (clamp !== undefined) return clamping(clamp)
  if (redact !== undefined) return redacting(redact)
  return (text) => text
}

const setting = (set: NonNullable<ChangeSource['set']>): Change => {
  const values = Object.entries(set).map(([pointer, value]) => [pointerKeys(pointer), JSON.stringify(value)] as const)
  return (text) => values.reduce((so_far, [segments, json]) => setAt(so_far, segments, json), text)
}

const clamping = (clamp: NonNullable<ChangeSource['clamp']>): Change => {
  const bounds = Object.entries(clamp).map(([pointer, bound]) => [pointerKeys(pointer), clamped(bound)] as const)
  return (text) => replacedAt(text, bounds)
}

/** Numbers alone have a size; anything else is left to the checks. */
const clamped =
  ({ min = -Infinity, max = Infinity }: { readonly min?: number; readonly max?: number }): Replace =>
  (json) => {
    if (!/^-?\d/.test(json)) return undefined
    const value = Number(json)
    if (value < min) return String(min)
    return value > max ? String(max) : undefined
  }

const redacting = async ({ pointer, pattern, with: mark }: NonNullable<ChangeSource['redact']>): Promise<Change> => {
  const { RE2JS } = await import('re2js')
  const compiled = RE2JS.compile(pattern)
  if (compiled.matcher('').find()) throw new GuardError('INVALID_POLICY', 'matches the empty text, and so everywhere')
  const literal = RE2JS.quoteReplacement(mark)
  const redacted: Replace = (json) => {
    if (!json.startsWith('"')) return undefined
    const value = JSON.parse(json) as string
    const changed = compiled.matcher(value).replaceAll(literal)
    return changed === value ? undefined : JSON.stringify(changed)
  }
  const segments = pointerKeys(pointer)
  return (text) => replaceAt(text, segments, redacted)
}

const replacedAt = (text: string, replacements: readonly (readonly [Segments, Replace])[]): string =>
  replacements.reduce((so_far, [segments, replace]) => replaceAt(so_far, segments, replace), text)
