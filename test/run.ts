// Runs every test. The files of a folder share a process, since to start one costs more than most files take.
import { globSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'

/** What takes longest, each a process of its own that begins before the others. */
const LONGEST = ['browser', 'package.test.ts', 'plugins/replay', 'plugins/mcp', 'integration/mcp', 'bench']

/** The process that a file runs in: of what takes longest, else of its first folder, else its own. */
const processOf = (file: string): string =>
  LONGEST.find((name) => file === name || file.startsWith(`${name}/`)) ?? file.replace(/\/.*/, '')

/** A program that runs files one after another, each a suite of its own; one that cannot be loaded is a failed test. */
const program = (files: readonly string[]): string => {
  const suites = files.map((file) => {
    const url = pathToFileURL(join(import.meta.dirname, file)).href
    return `describe('${file}', () => import('${url}').catch((error) => it('${file} loads', () => { throw error })))`
  })
  return ["import { describe, it } from 'node:test'", ...suites].join('\n')
}

const rank = (name: string): number => (LONGEST.includes(name) ? LONGEST.indexOf(name) : LONGEST.length)

const found = globSync('**/*.test.ts', { cwd: import.meta.dirname }).map((file) => file.split(sep).join('/'))
const processes = [...Map.groupBy(found.sort(), processOf)].sort(([one], [other]) => rank(one) - rank(other))
const folder = await mkdtemp(join(tmpdir(), 'guard-tests-'))
const files: string[] = []
for (const [name, members] of processes) {
  const file = join(folder, `${name.replaceAll('/', '-')}.mjs`)
  await writeFile(file, program(members))
  files.push(file)
}
// one more than there are processors: some of them wait for others
run({ files, concurrency: availableParallelism() + 1 })
  .on('test:summary', ({ file, success }) => {
    if (file === undefined && !success) process.exitCode = 1
  })
  .once('close', () => rm(folder, { recursive: true }))
  .compose(spec)
  .pipe(process.stdout)
