import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const KINDS = ['Added', 'Changed', 'Fixed'] as const
type Kind = (typeof KINDS)[number]

export interface Change {
  readonly file: string
  readonly kind: Kind
  readonly text: string
}

/** The changes since the last release. Throws for a file that does not begin with its kind. */
export const changesIn = (folder: string): readonly Change[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .toSorted()
    .map((file) => {
      const [first = ''] = readFileSync(join(folder, file), 'utf8').trim().split('\n')
      const [, kind, text] = /^(Added|Changed|Fixed): (\S.*)$/.exec(first) ?? []
      if (text === undefined) throw new Error(`.changes/${file} begins with none of "Added: ", "Changed: ", "Fixed: ".`)
      return { file, kind: kind as Kind, text: text.charAt(0).toUpperCase() + text.slice(1) }
    })

/** The section of a version. What stops working is first in its group. */
const sectionOf = (version: string, date: string, changes: readonly Change[]): string => {
  const groups = KINDS.flatMap((kind) => {
    const lines = changes.filter((change) => change.kind === kind).map(({ text }) => `- ${text}`)
    const breaking = (line: string): number => (line.includes('**Breaking**') ? 0 : 1)
    const sorted = lines.toSorted((left, right) => breaking(left) - breaking(right))
    return lines.length === 0 ? [] : [`### ${kind}\n\n${sorted.join('\n')}`]
  })
  return `## [${version}] - ${date}\n\n${groups.join('\n\n')}\n`
}

/** The changelog with a section for the version above the last one's. */
export const withSection = (changelog: string, version: string, date: string, changes: readonly Change[]): string => {
  if (changes.length === 0) throw new Error('Nothing has changed: there is no file in .changes.')
  const at = changelog.search(/^## \[/m)
  if (at < 0) throw new Error('CHANGELOG.md has no section of a version, above which the new one would stand.')
  return `${changelog.slice(0, at)}${sectionOf(version, date, changes)}\n${changelog.slice(at)}`
}
