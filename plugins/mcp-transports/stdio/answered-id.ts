import type { LineEnds } from 'guard-gateway/lib/json-rpc'

const VERSION = String.raw`"jsonrpc"\s*:\s*"2\.0"`
const ID = String.raw`"id"\s*:\s*("[^"\\]*"|-?[0-9]+)`

const HEAD = new RegExp(
  String.raw`^\s*\{\s*(?:${VERSION}\s*,\s*)?(?:${ID}\s*,\s*)?(?:${VERSION}\s*,\s*)?"(?:result|error)"\s*:`,
)
// within a string the quotes would be after backslashes
const TAIL = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*${VERSION}\s*)?\}\s*$`)

/** The id of the request that a message answers of which only the ends are known; undefined for one that may answer none. */
export const answeredId = ({ head, tail }: LineEnds): string | undefined => {
  const begun = HEAD.exec(head)
  return begun === null ? undefined : (begun[1] ?? TAIL.exec(tail)?.[1])
}
