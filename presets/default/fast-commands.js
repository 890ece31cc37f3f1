import { mkdirSync, readFileSync } from 'node:fs'
import { enableCompileCache, flushCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

/**
 * Prints the version or the help file if nothing else is requested; otherwise enables the compile cache.
 * @param {readonly string[]} argv
 */
export const runsFastCommand = (argv) => {
  const answer = answerTo(argv)
  if (answer !== undefined) process.stdout.write(answer)
  else enableCache()
  return answer !== undefined
}

/** @param {readonly string[]} argv */
const answerTo = ([first = 'help', ...more]) => {
  if (more.length > 0) return
  if (VERSION.has(first)) return `${JSON.parse(textOf('guard-gateway/package.json')).version}\n`
  if (OVERVIEW.has(first) && fitsStoredHelp() && !hasOwnPlugins()) return textOf('guard-gateway/help.txt')
}
const VERSION = new Set(['--version', '-v', 'version'])
const OVERVIEW = new Set(['--help', '-h', 'help'])

/** The help file is 80 columns wide. */
const fitsStoredHelp = () => (process.stdout.columns ?? 80) >= 80

/** @param {string} file */
const textOf = (file) => readFileSync(new URL(import.meta.resolve(file)), 'utf8')

/** The user's plugins may add commands that the help file lacks. */
const hasOwnPlugins = () => {
  try {
    return /^plugins:/m.test(readFileSync(process.env.GUARD_CONFIG ?? 'guard-config.yml', 'utf8'))
  } catch {
    return false
  }
}

/** Node writes the cache when a process ends, which one that is killed does not. */
const FLUSH_MS = 5_000

/** The compile cache is in a folder that only the user can write, because Node runs its content. */
const enableCache = () => {
  if (process.env.NODE_COMPILE_CACHE !== undefined || process.env.NODE_DISABLE_COMPILE_CACHE !== undefined) return
  try {
    const caches = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
    const folder = join(caches, 'guard-gateway')
    makeFolder(caches)
    makeFolder(folder)
    enableCompileCache(folder)
    setTimeout(flushCompileCache, FLUSH_MS).unref()
  } catch {
    // without the cache, loading takes longer
  }
}

/**
 * Not with `recursive`: Node tries that for ever in a home where nothing can be made, as below /proc.
 * @param {string} folder
 */
const makeFolder = (folder) => {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error
  }
}
