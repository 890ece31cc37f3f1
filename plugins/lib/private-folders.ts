import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder that its owner alone can enter, and those around it that are missing; one that is there keeps its rights.
 * Throws the system's error. Node's own `recursive` asks for ever where a file system lets no folder be made, such as `/proc`.
 */
export const makeFolders = (folder: string): void => {
  try {
    makeFolder(folder)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    if (!isMissing || dirname(folder) === folder) throw error
    makeFolders(dirname(folder))
    makeFolder(folder)
  }
}

const makeFolder = (folder: string): void => {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
