import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import type { NamedStorage } from 'guard-gateway/plugins/storage/copy'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'

/** The storage of a file path. Throws USAGE for an address of an engine that there is no backend for. */
export const storageAt = async (name: string, cwd: string): Promise<NamedStorage> => {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(name)?.[1]
  if (scheme !== undefined)
    throw new GuardError('USAGE', `There is no storage for addresses that begin with ${scheme}://.`)
  const file = resolve(cwd, name)
  const exists = existsSync(file)
  return {
    id: exists ? realpathSync(file) : file,
    title: name,
    exists,
    backend: sqlite({ file }),
  }
}
