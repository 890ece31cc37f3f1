import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The lines of files of this folder; ⏎ stands for the end of a line within one. */
export const linesOf = (...files: readonly string[]): string[] =>
  files.flatMap((file) =>
    readFileSync(join(import.meta.dirname, file), 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => line.replaceAll('⏎', '\n')),
  )
