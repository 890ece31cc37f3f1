import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { GuardError, type StorageBackend } from 'guard-gateway/core'
import type { NamedStorage } from 'guard-gateway/plugins/storage/copy'
import { postgres } from 'guard-gateway/plugins/storage/postgres'
import { sqlite } from 'guard-gateway/plugins/storage/sqlite'

/** A statement of a copy reads a table through, or waits for disks that are busy with one. */
const STATEMENT_MS = 600_000

/** The storage of a file path, or of an address postgres://…. Throws USAGE for an address of another kind. */
export const storageAt = async (name: string, cwd: string): Promise<NamedStorage> => {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(name)?.[1]?.toLowerCase()
  if (scheme === undefined) return atFile(name, cwd)
  if (scheme === 'postgres' || scheme === 'postgresql') return atAddress(name)
  throw new GuardError(
    'USAGE',
    `There is no storage at addresses that begin with ${scheme}://; name a file, or postgres://…`,
  )
}

const atFile = (name: string, cwd: string): NamedStorage => {
  const file = resolve(cwd, name)
  const exists = existsSync(file)
  return { id: exists ? realpathSync(file) : file, title: name, exists, backend: sqlite({ file }) }
}

const atAddress = (url: string): NamedStorage => {
  const title = withoutLogin(url)
  const { id, open } = postgres({ url, statement_timeout_ms: STATEMENT_MS })
  const backend: StorageBackend = {
    id,
    open: (tables, context) =>
      open(tables, context).catch((error: unknown) => {
        throw error instanceof GuardError
          ? new GuardError(error.entry, messageOf(error, title), { cause: error })
          : error
      }),
  }
  return { id: title.replace(/^postgresql:/i, 'postgres:'), title, exists: true, backend }
}

/** The configuration has the address elsewhere. */
const messageOf = ({ message }: Error, title: string): string =>
  message.replace(/^storage\.url\b/, `The address ${title}`).replaceAll('storage.url', 'the address')

/** The password may hold anything, also what should be escaped. */
const withoutLogin = (url: string): string => url.replace(/\/\/.*@/s, '//').replace(/[?#].*$/s, '')
