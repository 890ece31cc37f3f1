import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Where Debian keeps the programs of each version. */
const DEBIAN = '/usr/lib/postgresql'

const folders = (path: string, debian: string): string[] => [
  ...path.split(delimiter),
  ...(existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []).map((version) =>
    join(debian, version, 'bin'),
  ),
]

/** The folder of `initdb` and `postgres`, from PATH or where Debian keeps them; undefined if there is none. */
export const serverPrograms = (path = process.env.PATH ?? '', debian = DEBIAN): string | undefined =>
  folders(path, debian).find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))

/** A server of one's own, whose user may create databases. */
export const givenServer = (): string | undefined => process.env.GUARD_TEST_POSTGRES_URL || undefined

/** Program and arguments for a user that is not root, since the server refuses to run as root. */
export const asNobody = (program: string, args: readonly string[]): [string, string[]] => {
  if (process.getuid?.() !== 0) return [program, [...args]]
  return ['setpriv', ['--reuid=nobody', '--regid=nogroup', '--clear-groups', program, ...args]]
}
