import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import type { Input, Io } from '#lib/command'

/** The text of an option; undefined where it was not given. */
export const textOption = (options: Input['options'], name: string): string | undefined => {
  const value = options[name]
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined
}

/** The content of a file that was named on the command line. Throws GuardError USAGE where it cannot be read. */
export const fileContent = async (name: string, { cwd }: Io): Promise<Buffer> => {
  try {
    return await readFile(resolve(cwd, name))
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : 'cannot be read'
    throw new GuardError('USAGE', `The file ${name} ${why}.`, { cause })
  }
}
