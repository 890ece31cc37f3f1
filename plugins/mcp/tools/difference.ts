/** Lines around a change that are shown with it. */
const CONTEXT = 2
/** Pairs of lines that are compared; texts with more are shown one after the other. */
const MAX_PAIRS = 1_000_000

type Line = readonly [mark: '-' | '+' | ' ', text: string]

/** How one text became the other, line by line: `- ` gone, `+ ` new, two blanks for a line around a change, `…` for lines left out. */
export const lineDifference = (before: string, after: string): string[] => {
  const [old, fresh] = [before.split('\n'), after.split('\n')]
  let head = 0
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++
  let tail = 0
  while (tail < Math.min(old.length, fresh.length) - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++
  const changed = changes(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail))
  const unchanged = (lines: readonly string[]): Line[] => lines.map((text) => [' ', text])
  return withContext([...unchanged(old.slice(0, head)), ...changed, ...unchanged(old.slice(old.length - tail))])
}

/** By the longest common subsequence. */
const changes = (old: readonly string[], fresh: readonly string[]): readonly Line[] => {
  if (old.length * fresh.length > MAX_PAIRS)
    return [...old.map((text): Line => ['-', text]), ...fresh.map((text): Line => ['+', text])]
  const width = fresh.length + 1
  const common = new Uint32Array((old.length + 1) * width)
  const at = (row: number, column: number): number => common[row * width + column] ?? 0
  for (let row = old.length - 1; row >= 0; row--)
    for (let column = fresh.length - 1; column >= 0; column--)
      common[row * width + column] =
        old[row] === fresh[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1))
  return traced(old, fresh, at)
}

const traced = (
  old: readonly string[],
  fresh: readonly string[],
  at: (row: number, column: number) => number,
): readonly Line[] => {
  const lines: Line[] = []
  let [row, column] = [0, 0]
  while (row < old.length || column < fresh.length) {
    const [gone, come] = [old[row], fresh[column]]
    if (gone !== undefined && gone === come) {
      lines.push([' ', gone])
      row++
      column++
    } else if (gone !== undefined && (come === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push(['-', gone])
      row++
    } else {
      lines.push(['+', come ?? ''])
      column++
    }
  }
  return lines
}

const withContext = (lines: readonly Line[]): string[] => {
  const near = (at: number): boolean =>
    lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(([mark]) => mark !== ' ')
  const last = lines.findLastIndex(([mark]) => mark !== ' ')
  return lines.flatMap(([mark, text], at) => {
    if (mark !== ' ' || near(at)) return [`${mark} ${text}`]
    return at > 0 && near(at - 1) && at < last ? ['…'] : []
  })
}
