import type { Frame } from 'guard-gateway/core'
import { memberIn, sourceOf, stringIn } from 'guard-gateway/lib/json'

/** The page that a `tools/list` asks for, undefined for the first one. What is no string may still be a cursor to a lax server: that is its source text. */
export const listCursor = ({ method, text, params }: Frame): string | undefined => {
  const cursor = method === 'tools/list' ? memberIn(params, 'cursor')?.value : undefined
  return cursor === undefined ? undefined : (stringIn(text, cursor) ?? sourceOf(text, cursor))
}
