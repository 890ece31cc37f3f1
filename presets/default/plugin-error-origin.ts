import { dirname, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { thrownStack } from '#lib/errors'

const home = fileURLToPath(new URL('../../', import.meta.url))
/** Folders of the project's own sources, or of the entries and chunks that are made of them. */
const ownFolders = ['core', 'plugins', 'presets', 'chunks'].map((folder) => `${home}${folder}${sep}`)

/**
 * Finds the user's plugin file that caused an error: the file whose folder contains the innermost stack frame outside of Node and packages.
 * Undefined if that frame is the project's own. Errors without such a frame count as the plugins': a thrown string, a system error, an error inside of a package.
 */
export const errorOriginIn =
  (files: readonly string[]) =>
  (error: unknown): string | undefined => {
    if (files.length === 0) return undefined
    const path = pathsOf(thrownStack(error)).find((path) => isOwn(path) || fileOf(path, files) !== undefined)
    if (path === undefined) return `one of ${files.join(', ')}`
    return isOwn(path) ? undefined : fileOf(path, files)
  }

const isOwn = (path: string): boolean => ownFolders.some((folder) => path.startsWith(folder))

/** The plugin file, or the first file whose folder contains the frame outside of `node_modules`. */
const fileOf = (path: string, files: readonly string[]): string | undefined =>
  files.find((file) => path === file) ?? files.find((file) => isBelow(path, `${dirname(file)}${sep}`))

const isBelow = (path: string, folder: string): boolean =>
  path.startsWith(folder) && !path.slice(folder.length - 1).includes(`${sep}node_modules${sep}`)

/** Paths of the stack frames, innermost first. */
const pathsOf = (stack: string): readonly string[] =>
  [...stack.matchAll(/^ +at .*?\(?((?:file:\/\/)?\/[^()]*):\d+:\d+\)?$/gm)].map(([, location = '']) =>
    location.startsWith('file:') ? fileURLToPath(location) : location,
  )
