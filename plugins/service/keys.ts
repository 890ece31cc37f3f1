import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { isDeepStrictEqual, parseEnv } from 'node:util'
import { GuardError } from 'guard-gateway/core'
import type { Io } from '#lib/command'
import { writeFileFor } from './write-file.ts'

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))) return ''
    throw new GuardError('USAGE', `${file} cannot be read: ${(error as Error).message}.`, { cause: error })
  }
}

/** The variables of a keys file; none without one. Throws USAGE for a file that cannot be read. */
export const keysIn = (file: string): Readonly<Record<string, string>> =>
  parseEnv(textOf(file)) as Record<string, string>

/** Says that others can read the keys; undefined if they cannot. */
export const keysWarning = (file: string): string | undefined => {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0
  return (mode & 0o077) === 0 ? undefined : `Others can read ${file}, which holds keys; run: chmod 600 ${file}`
}

/** The variables that were asked for by name, from the environment of this command. Throws USAGE for one that is not set, or cannot be written. */
export const chosenKeys = (names: readonly string[], { env }: Io): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, valueFor(name, env)]))

const valueFor = (name: string, env: Io['env']): string => {
  if (!NAME.test(name)) throw new GuardError('USAGE', `--env takes the name of a variable, not "${name}".`)
  const value = env[name]
  if (value === undefined || value === '')
    throw new GuardError(
      'USAGE',
      `--env ${name}: this variable is not set here. Export it, or write it into the keys file.`,
    )
  quoted(name, value)
  return value
}

/** Writes variables into the file, which its owner alone can read; other lines stay. Throws USAGE where the file would be read otherwise then. */
export const storeKeys = (file: string, keys: Readonly<Record<string, string>>): void => {
  const old = textOf(file)
  const lines = old === '' ? [HEAD] : old.replace(/\n$/, '').split('\n')
  const retained = lines.filter((line) => !Object.keys(keys).some((name) => line.startsWith(`${name}=`)))
  const added = Object.entries(keys).map(([name, value]) => `${name}=${quoted(name, value)}`)
  const text = `${[...retained, ...added].join('\n')}\n`
  if (lines.some((line) => GOES_ON.test(line)) || !isDeepStrictEqual(parseEnv(text), { ...parseEnv(old), ...keys }))
    throw new GuardError(
      'USAGE',
      `${file} has a value over several lines, a quote that does not end or a backslash at the end of a line, so ${Object.keys(keys).join(', ')} cannot be added to it safely. Write ${Object.keys(keys).join('=…, ')}=… into it yourself, and install again without --env.`,
    )
  writeFileFor(existsSync(file) ? realpathSync(file) : file, text)
}

/** The next line belongs to this one, for systemd at least. */
const GOES_ON = /\\$|^[^=#;]*=\s*(["'])(?!.*\1)/

const HEAD = '# Keys of the gateway that runs as a service, NAME=value, one a line. Read when it starts.'

/** A value as systemd and Node read it alike. Throws USAGE for one that they would not. */
const quoted = (name: string, value: string): string => {
  if (/^[\w./:@%+,=-]+$/.test(value)) return value
  if (!/[\u0000-\u001f\u007f]/.test(value)) {
    if (!value.includes("'")) return `'${value}'`
    if (!/["\\$`]/.test(value)) return `"${value}"`
  }
  throw new GuardError(
    'USAGE',
    `--env ${name}: its value has line breaks or quotes that a file of variables cannot hold. Put it into a file, and name that in the configuration.`,
  )
}
