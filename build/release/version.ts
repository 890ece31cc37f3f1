const VERSION = /^(\d+)\.(\d+)\.(\d+)$/

/** The version that a word asks for: `patch`, `minor`, `major`, or a version above the last. */
export const nextVersion = (last: string, word: string): string => {
  const [major = 0, minor = 0, patch = 0] = last.split('.').map(Number)
  if (word === 'major') return `${major + 1}.0.0`
  if (word === 'minor') return `${major}.${minor + 1}.0`
  if (word === 'patch') return `${major}.${minor}.${patch + 1}`
  const found = VERSION.exec(word)
  if (found === null) throw new Error(`"${word}" is no version: say patch, minor, major, or one as 1.2.3.`)
  if (!isAbove(word, last)) throw new Error(`${word} is not above ${last}, the last version.`)
  return word
}

const isAbove = (version: string, last: string): boolean => {
  const [left, right] = [version.split('.').map(Number), last.split('.').map(Number)]
  const at = left.findIndex((part, index) => part !== right[index])
  return at >= 0 && (left[at] ?? 0) > (right[at] ?? 0)
}
