import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Bash finds no program, and writes down what it would have started: its words end with 0, the last with one more. */
const RECORD = `command_not_found_handle() { printf '%s\\0' "$@" >&3; printf '\\0' >&3; }
exec 3>&1 >/dev/null
PATH=/nonexistent
`

/** The programs that a shell block starts, each with its arguments, as Bash reads them. Throws for what Bash cannot read. */
export const commandsOf = (text: string): readonly (readonly string[])[] => {
  const folder = mkdtempSync(join(tmpdir(), 'guard-shell-'))
  try {
    execFileSync('bash', ['-n', '-c', text], { stdio: 'pipe' })
    const script = RECORD + text.replaceAll(/(?<!["'\w])\.\/(?=\S)/g, 'dot/')
    const out = execFileSync('bash', ['-c', script], {
      cwd: folder,
      encoding: 'utf8',
      env: variablesOf(text),
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return wordsIn(out)
  } catch (error) {
    const { stdout, status } = error as { readonly stdout?: string; readonly status?: number }
    // the last program was not found, as none is
    if (status === undefined || stdout === undefined || stdout === '') throw error
    return wordsIn(stdout)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A value for each variable that a text reads. */
const variablesOf = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/\$\{?([A-Z]\w+)/g)].map(([, name = '']) => [name, `a-${name.toLowerCase()}`]))

const wordsIn = (out: string): readonly (readonly string[])[] =>
  out
    .split('\0\0')
    .filter((words) => words !== '')
    .map((words) => words.split('\0'))

/** The words behind `guard`, in whichever way it is called; undefined if it is not. */
export const guardWords = ([program = '', ...args]: readonly string[]): readonly string[] | undefined => {
  if (program === 'guard') return args
  if (program === 'npx' && args[0] === 'guard') return args.slice(1)
  return program === 'npm' && args.slice(0, 3).join(' ') === 'run guard --' ? args.slice(3) : undefined
}
