import type { JsonRewriter } from './texts.ts'
import { type Walker, walk } from './walk.ts'

/** Node 22 and later keep the digits of a number a double cannot hold. */
interface ExactJson {
  readonly rawJSON?: (text: string) => unknown
}
const { rawJSON } = JSON as ExactJson

const LONG_NUMBER = /[:,[\s]-?\d{16}/

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown

/** Keeps a number as it was written, unless a double writes it so. */
const exact: Reviver = (_key, value, context) =>
  typeof value === 'number' &&
  rawJSON !== undefined &&
  context?.source !== undefined &&
  String(value) !== context.source
    ? rawJSON(context.source)
    : value

const parse = (text: string): unknown => {
  try {
    return LONG_NUMBER.test(text) ? JSON.parse(text, exact) : JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Indentation of the first member or element that stands on a line of its own. */
const indentOf = (text: string): string => /^\s*[[{]\r?\n([ \t]{1,10})\S/.exec(text.slice(0, 64))?.[1] ?? ''

/** Rewrites JSON by walking what it says; numbers keep their digits. */
export const json =
  (walker: Walker): JsonRewriter =>
  (text, level) => {
    const value = parse(text)
    if (typeof value !== 'object' && typeof value !== 'string') return undefined
    const result = walk(value, walker, level)
    return result === value ? undefined : JSON.stringify(result, null, indentOf(text))
  }
