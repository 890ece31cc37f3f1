import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

export const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** Every document that people read; the changelog is made of pieces and has no blocks. */
export const documents: readonly string[] = globSync('{*.md,{core,plugins,bench,examples,test,presets}/**/*.md}', {
  cwd: root,
})
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file !== 'CHANGELOG.md')
  .toSorted()

/** A fenced block. */
export interface Block {
  readonly file: string
  /** Line of its fence. */
  readonly line: number
  /** Empty if the fence names none. */
  readonly language: string
  readonly text: string
}

/** The fenced blocks of a document, in their order. */
export const blocksOf = (file: string): readonly Block[] => {
  const text = read(file)
  return [...text.matchAll(/^( *)```(\S*)\n([\s\S]*?)^\1```$/gm)].map((match) => ({
    file,
    line: text.slice(0, match.index).split('\n').length,
    language: match[2] ?? '',
    text: match[3] ?? '',
  }))
}

/** The text without its fenced blocks. */
export const proseOf = (file: string): string => read(file).replaceAll(/^( *)```\S*\n[\s\S]*?^\1```$/gm, '')
