import { displayWidth } from './display-width.ts'

/** A line broken between words into lines of at most `width` columns. What continues it is indented by `hang`; by two more than the line itself if absent. A word that is wider stays whole. */
export const wrapLine = (line: string, width: number, hang?: number): readonly string[] => {
  if (displayWidth(line) <= width) return [line]
  const [own = ''] = /^ */.exec(line) ?? []
  const indent = ' '.repeat(Math.min(hang ?? own.length + 2, Math.floor(width / 2)))
  const lines = [own]
  let used = own.length
  for (const [, gap = '', word = ''] of line.slice(own.length).matchAll(/( *)([^ ]+)/g)) {
    const wide = gap.length + displayWidth(word)
    const isFirst = lines.length === 1 && used === own.length
    if (isFirst || used + wide <= width) {
      lines.push(`${lines.pop()}${gap}${word}`)
      used += wide
    } else {
      lines.push(indent + word)
      used = indent.length + wide - gap.length
    }
  }
  return lines
}

/** As `wrapLine`, for text of several lines. */
export const wrapText = (text: string, width: number): string =>
  text
    .split('\n')
    .flatMap((line) => wrapLine(line, width))
    .join('\n')
