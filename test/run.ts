// Runs every test, or those whose path below test/ begins as an argument says; with --installed against the package as npm installs it. Files share processes, since to start one costs more than most of them take.
import { globSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { packPackage } from './packed-package.ts'

/** What everything else belongs to. */
const OTHERS = 'others'

/** The processes in the order they begin in: what takes longest, or waits most, comes first. */
const PROCESSES = [
  'browser',
  'browser/pages.test.ts',
  'browser/steady.test.ts',
  'plugins',
  'plugins/storage',
  OTHERS,
  'presets',
  'integration',
  'integration/mcp',
  'integration/cluster',
  'bench',
  'plugins/mcp',
  'plugins/replay',
  'plugins/policy',
  'plugins/lib',
  'package.test.ts',
  'package-uses.test.ts',
  'foreign-plugins',
]

/** The process that a file runs in: the one whose name says most of its path. */
const processOf = (file: string): string =>
  PROCESSES.filter((name) => file === name || file.startsWith(`${name}/`)).sort(
    (one, other) => other.length - one.length,
  )[0] ?? OTHERS

/**
 * Loads a file as a suite of its own, before the next one is loaded; one that cannot be loaded is a failed test.
 * The runner finds the suite that a test is declared in by the asynchronous resource under way. It would follow every
 * promise too, which takes a fifth of all the time and says nothing here, since to require a file waits for none.
 */
const load = `import asyncHooks from 'node:async_hooks'
import { createRequire, flushCompileCache } from 'node:module'
const { createHook } = asyncHooks
asyncHooks.createHook = (callbacks) => createHook({ ...callbacks, trackPromises: false })
const { after, describe, it } = await import('node:test')
asyncHooks.createHook = createHook
// an error that nobody catches fails the process, but the runner then knows no test to name
for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, (error) => console.error(error))
const require = createRequire(import.meta.url)
const left = () => {
  console.error('The tests have ended, but these keep their process alive:', process.getActiveResourcesInfo())
  process.exit(1)
}
const load = (name, path, last) =>
  describe(name, () => {
    // now, not when it ends: the processes that begin meanwhile, and all children, then need not compile the same
    after(() => flushCompileCache())
    // what is left open must not keep the others waiting
    if (last) after(() => void setTimeout(left, 60_000).unref())
    try {
      require(path)
    } catch (error) {
      it(name + ' loads', () => { throw error })
    }
  })
`

/** A program that runs files, in place of the sources against the installed package where `GUARD_TEST_PACKAGE` says where that is. */
const program = (files: readonly string[]): string =>
  (process.env.GUARD_TEST_PACKAGE === undefined
    ? ''
    : `import ${JSON.stringify(join(import.meta.dirname, 'resolve-installed.ts'))}\n`) +
  load +
  files
    .map(
      (file) =>
        `load(${[file, join(import.meta.dirname, file), file === files.at(-1)].map((part) => JSON.stringify(part))})`,
    )
    .join('\n')

const beginnings = process.argv.slice(2).filter((argument) => argument !== '--installed')
const found = globSync('**/*.test.ts', { cwd: import.meta.dirname })
  .map((file) => file.split(sep).join('/'))
  .filter((file) => beginnings.length === 0 || beginnings.some((beginning) => file.startsWith(beginning)))
if (found.length === 0) throw new Error(`No file of tests begins with ${beginnings.join(' or ')}.`)

const processes = [...Map.groupBy(found.sort(), processOf)].sort(
  ([one], [other]) => PROCESSES.indexOf(one) - PROCESSES.indexOf(other),
)
const folder = await mkdtemp(join(tmpdir(), 'guard-tests-'))
// what is made once for all processes
process.env.GUARD_TEST_SHARED = folder
if (process.argv.includes('--installed')) process.env.GUARD_TEST_PACKAGE = (await packPackage()).folder
const files: string[] = []
for (const [name, members] of processes) {
  const file = join(folder, `${name.replaceAll('/', '-')}.mjs`)
  await writeFile(file, program(members))
  files.push(file)
}
// more than there are processors, since many of them wait for others: browsers, gateways, what they build; what hangs fails in the end
run({ files, concurrency: availableParallelism() + 2, timeout: 600_000 })
  .on('test:summary', ({ file, success }) => {
    if (file === undefined && !success) process.exitCode = 1
  })
  .once('close', () => rm(folder, { recursive: true }))
  .compose(spec)
  .pipe(process.stdout)
