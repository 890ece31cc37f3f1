import { memberIn, sourceOf, stringIn } from 'guard-gateway/lib/json'
import type { Frame } from 'guard-gateway/lib/json-rpc'

/** The cursor of a `tools/list`; undefined for the first page. A lax server may take a cursor that is no string: then this is its source text. */
export const listCursor = ({ method, text, params }: Frame): string | undefined => {
  const cursor = method === 'tools/list' ? memberIn(params, 'cursor')?.value : undefined
  return cursor === undefined ? undefined : (stringIn(text, cursor) ?? sourceOf(text, cursor))
}
