/** A class of Unicode is a long list of ranges. */
const UNICODE_CLASS = 20

const PIECES = /\[(?:\\.|[^\]\\])*\]|\\[pP]\{[^}]*\}|\\.|\{(\d+)(?:,(\d*))?\}|./gsu

const weightOf = (piece: string): number =>
  piece.length === 1 ? 1 : 1 + UNICODE_CLASS * (piece.match(/\\p/gi)?.length ?? 0)

/** About how many steps the program of a pattern has once its repetitions are written out. Never runs the pattern. */
export const patternSize = (pattern: string): number => {
  const open: number[] = []
  let [total, last] = [0, 0]
  for (const [piece, least, most] of pattern.matchAll(PIECES)) {
    if (piece === '(') open.push(total)
    else if (piece === ')') last = total - (open.pop() ?? 0)
    else if (least === undefined) {
      last = weightOf(piece)
      total += last
    } else {
      const times = Math.max(Number(least), Number(most ?? 0), 1)
      total += last * (times - 1)
      last *= times
    }
  }
  return total
}
