import { readFileSync, realpathSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Gateway } from 'guard-gateway/core'
import type { Io } from '#lib/command'

/** Command line that runs this program with this configuration: from the current folder, and from any folder. */
export const calledAs = (
  { env }: Pick<Io, 'env'>,
  { file, named }: { readonly file: string; readonly named: boolean },
  argv: readonly string[] = process.argv,
): Gateway['calledAs'] => {
  const { here, anywhere } = commandWords(env, argv[1] ?? '')
  const config = ['--config', file]
  return { here: shell([...here, ...(named ? config : [])]), anywhere: shell([...anywhere, ...config]) }
}

/** Command line that starts this program again. */
export const ownCommand = (): readonly string[] => [
  process.execPath,
  ...process.execArgv.filter((word) => word.startsWith('--conditions=')),
  process.argv[1] ?? 'guard',
]

interface CommandWords {
  readonly here: readonly string[]
  readonly anywhere: readonly string[]
}

const commandWords = (env: Io['env'], script: string): CommandWords => {
  const root = fileURLToPath(new URL('.', import.meta.resolve('guard-gateway/package.json')))
  if (isScriptOf(root, env)) {
    const anywhere = ['npm', 'run', '-s', '--prefix', root.slice(0, -1), 'guard', '--']
    const isInside = !relative(root, env.INIT_CWD ?? '').startsWith('..')
    return { here: isInside ? ['npm', 'run', '-s', 'guard', '--'] : anywhere, anywhere }
  }
  const name = basename(script)
  // started by the package's name, which npx finds without an installation
  if (name === 'guard-gateway' || script.includes(join('_npx', ''))) {
    const words = ['npx', ...npxPackages(script)]
    return { here: words, anywhere: words }
  }
  if (name === 'bin.js' || name === 'start.js') return { here: ownCommand(), anywhere: ownCommand() }
  const isLocal = name === 'guard' && script.includes(join('node_modules', '.bin'))
  return isLocal ? { here: ['npx', 'guard'], anywhere: [script] } : { here: ['guard'], anywhere: ['guard'] }
}

/** What npx was called with before the words of the program: a file, and a Node beside it, are needed again. */
const npxPackages = (script: string): readonly string[] => {
  const [folder] = /^.*[\\/]_npx[\\/][^\\/]+[\\/]/.exec(script) ?? []
  if (folder === undefined) return ['guard-gateway']
  try {
    const { _npx, dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const own = String(dependencies['guard-gateway'])
    const source = own.startsWith('file:') ? `file:${resolve(folder, own.slice(5))}` : 'guard-gateway'
    const others = (_npx.packages as readonly string[]).filter((name) => name.startsWith('node@'))
    if (others.length === 0) return [source]
    return [...[...others, source].flatMap((name) => ['-p', name]), 'guard-gateway']
  } catch {
    return ['guard-gateway']
  }
}

/** Whether npm runs a script of this package, as in a clone. Scripts of other packages set the same variables. */
const isScriptOf = (root: string, { npm_command, npm_package_json }: Io['env']): boolean => {
  if (npm_command === 'exec' || npm_package_json === undefined) return false
  try {
    return realpathSync(npm_package_json) === realpathSync(join(root, 'package.json'))
  } catch {
    return false
  }
}

const shell = (words: readonly string[]): string =>
  words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ')
