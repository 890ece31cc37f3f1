import { execFile } from 'node:child_process'
import { mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { GuardError } from 'guard-gateway/core'
import { writeError } from '#lib/errors'
import { newKey } from '#lib/ids'
import { makeFolders } from '#lib/private-folders'
import { annotatedConfig } from './config/annotated.ts'

export interface FirstRun {
  readonly file: string
  /** Line of the key in the file, from 1. */
  readonly key_line: number
  /** `excluded`: git now ignores the file; `ignored`: git ignored it before; `none`: no git work tree. */
  readonly git: 'excluded' | 'ignored' | 'none'
}

/** Writes a new configuration file with mode 0600 and a new key. Throws CONFIG_EXISTS if the file exists. */
export const writeFirstConfig = async (file: string): Promise<FirstRun> => {
  const text = annotatedConfig(newKey('guard_'))
  try {
    makeFolders(dirname(file))
    await writeFile(file, text, { flag: 'wx', mode: 0o600 })
  } catch (cause) {
    const { code, path } = cause as NodeJS.ErrnoException
    if (code === 'EEXIST' && path === file)
      throw new GuardError('CONFIG_EXISTS', `${file} exists already; it was left as it is.`)
    throw new GuardError(
      'INVALID_CONFIG',
      writeError(file, cause, 'Name another with --config, and add --init.').message,
      {
        cause,
      },
    )
  }
  const lineOfKey = text.split('\n').findIndex((line) => line.startsWith('gateway_key:')) + 1
  return { file, key_line: lineOfKey, git: await excludeFromGit(file) }
}

const run = promisify(execFile)
const git = async (folder: string, ...args: readonly string[]): Promise<string | undefined> => {
  try {
    return (await run('git', ['-C', folder, ...args])).stdout.trim()
  } catch {
    return undefined // no git, no work tree, or not ignored
  }
}

/** Adds secret files to the work tree's exclude file, so that nobody commits them by mistake. */
const excludeFromGit = async (file: string): Promise<FirstRun['git']> => {
  const folder = dirname(file)
  const [root, exclude] = [
    await git(folder, 'rev-parse', '--show-toplevel'),
    await git(folder, 'rev-parse', '--git-path', 'info/exclude'),
  ]
  if (root === undefined || exclude === undefined) return 'none'
  const open: string[] = []
  const secrets = [
    { pattern: relative(folder, file), examples: [relative(folder, file)] },
    { pattern: 'guard.db*', examples: ['guard.db', 'guard.db-wal'] },
    { pattern: 'profiles/', examples: ['profiles/'] },
  ]
  for (const { pattern, examples } of secrets) {
    const answers = await Promise.all(examples.map((name) => git(folder, 'check-ignore', name)))
    if (answers.includes(undefined)) open.push(pattern)
  }
  if (open.length === 0) return 'ignored'
  await append(resolve(folder, exclude), `${open.join('\n')}\n`)
  return 'excluded'
}

const append = async (file: string, text: string): Promise<void> => {
  await mkdir(dirname(file), { recursive: true })
  const before = await readFile(file, 'utf8').catch(() => '')
  const handle = await open(file, 'a', 0o644)
  try {
    await handle.appendFile(before === '' || before.endsWith('\n') ? text : `\n${text}`)
  } finally {
    await handle.close()
  }
}
