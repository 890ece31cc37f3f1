import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const required = process.env.GUARD_NETWORK_TESTS === 'required'
/** Where servers stand that are not meant for everybody's PATH. */
const MORE = ['/usr/sbin', '/usr/local/sbin', '/usr/local/bin', '/opt/homebrew/bin']

/** A program that tests need and npm does not bring. Where it is required, they fail instead of being left out. */
export interface Installed {
  readonly path: string
  /** Why tests with it cannot run here; false if they can. */
  readonly absent: string | false
}

/** Looks for a program by its name. */
export const installed = (name: string): Installed => {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...MORE]
  const path = folders.map((folder) => join(folder, name)).find(isExecutable)
  return { path: path ?? name, absent: path === undefined && !required && `no ${name} here: install it` }
}

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
