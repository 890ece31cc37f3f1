/** A hole of a template, and the fixed part behind it. */
interface Piece {
  readonly mayHoldSlash: boolean
  readonly fixed: string
}

/** Whether an address may come of a template of RFC 6570: its fixed parts stand there in order, and only `{+…}`, `{#…}` and `{/…}` hold slashes. Linear in the address. */
export const fitsTemplate = (template: string, uri: string): boolean => {
  const [first = '', ...rest] = template.split(/(\{[^{}]*\})/)
  const pieces: Piece[] = []
  for (let at = 0; at < rest.length; at += 2)
    pieces.push({ mayHoldSlash: /^\{[+#/]/.test(rest[at] ?? ''), fixed: rest[at + 1] ?? '' })
  if (!uri.startsWith(first)) return false
  let from = first.length
  for (const [index, piece] of pieces.entries()) {
    const to = endOfHole(uri, from, piece.fixed, index === pieces.length - 1)
    if (to === -1 || (!piece.mayHoldSlash && uri.slice(from, to).includes('/'))) return false
    from = to + piece.fixed.length
  }
  return from === uri.length
}

/** Where the value of a hole ends; -1: what follows it is not there. The last one takes all that is left. */
const endOfHole = (uri: string, from: number, fixed: string, isLast: boolean): number => {
  if (!isLast) return uri.indexOf(fixed, from)
  const end = uri.length - fixed.length
  return end >= from && uri.endsWith(fixed) ? end : -1
}
