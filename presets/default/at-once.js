import { mkdirSync, readFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * Prints the overview of commands from its file if that is all that was asked for; else readies Node to load the rest faster.
 * @param {readonly string[]} argv
 */
export const answersAtOnce = (argv) => {
  if (asksForOverview(argv) && !hasOwnPlugins()) {
    process.stdout.write(readFileSync(new URL(import.meta.resolve('guard-gateway/help.txt')), 'utf8'))
    return true
  }
  keepCompiled()
  return false
}

/** @param {readonly string[]} argv */
const asksForOverview = ([first, ...more]) =>
  more.length === 0 && (first === undefined || first === '--help' || first === '-h' || first === 'help')

/** Plugins of the user's own may bring commands, which the file does not know. */
const hasOwnPlugins = () => {
  try {
    return /^plugins:/m.test(readFileSync(process.env.GUARD_CONFIG ?? 'guard-config.yml', 'utf8'))
  } catch {
    return false
  }
}

/** Compiled code is kept in a folder of the user's own, since what lies there is run. */
const keepCompiled = () => {
  if (process.env.NODE_COMPILE_CACHE !== undefined || process.env.NODE_DISABLE_COMPILE_CACHE !== undefined) return
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'guard-gateway')
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    enableCompileCache(folder)
  } catch {
    // it only takes longer
  }
}
