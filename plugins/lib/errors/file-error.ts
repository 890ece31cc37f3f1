import { GuardError } from 'guard-gateway/core'

/** An error message with its place in a file, as compilers write it: `file:2:1: message`; without a place `file: message`. */
export const withFileLocation = (file: string, { message, place: { line, column } }: GuardError): string =>
  line === undefined || column === undefined ? `${file}: ${message}` : `${file}:${line}:${column}: ${message}`

/** The error of a failed write, by its system code and without other paths; `otherwise` says what to do. */
export const writeError = (file: string, cause: unknown, otherwise = 'Name another file.'): GuardError => {
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
