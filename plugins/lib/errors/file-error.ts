import { GuardError } from 'guard-gateway/core'

/** What is wrong with a file and where, as editors and compilers write it: `file:2:1: what`; without a place `file: what`. */
export const inFile = (file: string, { message, place: { line, column } }: GuardError): string =>
  line === undefined || column === undefined ? `${file}: ${message}` : `${file}:${line}:${column}: ${message}`

/** Why the system did not let a file be written, by its code, without names of files that are no affair of who asked; `otherwise` says what to do. */
export const unwritable = (file: string, cause: unknown, otherwise = 'Name another file.'): GuardError => {
  const { code = '', message } = cause as NodeJS.ErrnoException
  const why = unwritten[code]
  return new GuardError(
    'USAGE',
    `${file} cannot be written: ${why === undefined ? message : `${why} (${code})`}. ${otherwise}`,
    { cause },
  )
}

const unwritten: Readonly<Record<string, string>> = {
  EACCES: 'it is not allowed to you',
  EEXIST: 'it is there already',
  EISDIR: 'a folder has that name',
  ENOENT: 'there is no such folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a file stands where a folder is needed',
  EPERM: 'it is not allowed to you',
  EROFS: 'that file system is read-only',
}
