import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { promisify } from 'node:util'
import { DEFAULT_ENFORCED } from '../config/checks.ts'
import { type Check, error, ok, reason, warning } from './check.ts'

const run = promisify(execFile)
const MIN_KEY = 16

/** Checks that the file exists, is valid, is private to its owner, and is ignored by git. */
export const configuration: Check = async ({ file, config, configError, warnings }) => {
  if (config === undefined)
    return [error(reason(configError), 'Correct it, or write one with: guard gateway run --init')]
  const { mode } = await stat(file)
  const open = process.platform !== 'win32' && (mode & 0o077) !== 0
  return [
    ok(`configuration ${file}`),
    // other checks report these two warnings, with a remedy
    ...warnings
      .filter((text) => !text.includes('chmod') && text !== DEFAULT_ENFORCED)
      .map((text) => warning(text, `See ${basename(file)}.`)),
    open
      ? warning(`${file} can be read by others and holds a key`, `chmod 600 ${file}`)
      : ok('configuration readable by you only'),
    (await isTrackedByGit(file))
      ? warning(`git would commit ${file}`, `echo ${basename(file)} >> .gitignore`)
      : ok('configuration out of sight of git'),
  ]
}

/** Checks the length of the key. */
export const key: Check = ({ config, file }) => {
  if (config === undefined) return []
  const { length } = config.gateway_key
  if (length >= MIN_KEY) return [ok('gateway key')]
  return [
    warning(`the gateway key has ${length} characters and can be guessed`, `Put a longer one into ${basename(file)}.`),
  ]
}

const isTrackedByGit = async (file: string): Promise<boolean> => {
  try {
    const cwd = dirname(file)
    const { stdout } = await run('git', ['-C', cwd, 'rev-parse', '--is-inside-work-tree'])
    if (stdout.trim() !== 'true') return false
    return !(await run('git', ['-C', cwd, 'check-ignore', file]).then(
      () => true,
      () => false,
    ))
  } catch {
    return false
  }
}
