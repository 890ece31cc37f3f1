import { dirname, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { thrownStack } from 'guard-gateway/lib/errors'

const home = fileURLToPath(new URL('../../', import.meta.url))
/** Folders of our own sources, or of what they are compiled to. */
const own = ['core', 'plugins', 'presets'].map((folder) => `${home}${folder}${sep}`)

/**
 * Finds out which of the user's plugin files an error comes from: the one in whose folder the innermost line lies that is not of Node or of a package.
 * Undefined where that line is ours. What has no such line is put down to the plugins: a thrown text, what a system call ends with, an error inside of a package.
 */
export const culpritIn =
  (files: readonly string[]) =>
  (error: unknown): string | undefined => {
    if (files.length === 0) return undefined
    const line = linesOf(thrownStack(error)).find((line) => isOwn(line) || fileOf(line, files) !== undefined)
    if (line === undefined) return `one of ${files.join(', ')}`
    return isOwn(line) ? undefined : fileOf(line, files)
  }

const isOwn = (line: string): boolean => own.some((folder) => line.startsWith(folder))

/** The plugin's file, or the first of those in whose folder the line lies outside the packages in there. */
const fileOf = (line: string, files: readonly string[]): string | undefined =>
  files.find((file) => line === file) ?? files.find((file) => isBeside(line, `${dirname(file)}${sep}`))

const isBeside = (line: string, folder: string): boolean =>
  line.startsWith(folder) && !line.slice(folder.length - 1).includes(`${sep}node_modules${sep}`)

/** The files of a stack's lines, innermost first, as paths. */
const linesOf = (stack: string): readonly string[] =>
  [...stack.matchAll(/^ +at .*?\(?((?:file:\/\/)?\/[^()]*):\d+:\d+\)?$/gm)].map(([, place = '']) =>
    place.startsWith('file:') ? fileURLToPath(place) : place,
  )
