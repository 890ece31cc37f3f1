/**
 * Runs the tests that start no process and cost little; with --system those in `*.system.test.ts`; with beginnings of paths below test/ all
 * whose path begins so. --installed runs them against the package as npm installs it, --times FILE writes what each file cost.
 * Files share processes, since to start one costs more than most of them take.
 */
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'
import { checkCosts, readCosts, report } from './costs.ts'
import { packPackage } from './packed-package.ts'

const { values: options, positionals: beginnings } = parseArgs({
  allowPositionals: true,
  options: { system: { type: 'boolean' }, installed: { type: 'boolean' }, times: { type: 'string' } },
})

/** What everything else belongs to. */
const OTHERS = 'others'

/** The processes in the order they begin in: what takes longest, or waits most, comes first. */
const PROCESSES = [
  'browser',
  'browser/pages',
  'browser/steady',
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
  // what a whole program shares is theirs alone
  'plugins/parsers',
  'package.',
  'package-uses',
  'foreign-plugins',
]

const isSystem = (file: string): boolean => file.endsWith('.system.test.ts')
/** The fast part runs its suites on SQLite, the system part on PostgreSQL. */
const isOnEachBackend = (file: string): boolean =>
  readFileSync(join(import.meta.dirname, file), 'utf8').includes("kit/backends.ts'")
const part = beginnings.length > 0 ? undefined : options.system === true ? 'system' : 'fast'
const isInPart = (file: string): boolean => {
  if (part === undefined) return beginnings.some((beginning) => file.startsWith(beginning))
  return part === 'fast' ? !isSystem(file) : isSystem(file) || isOnEachBackend(file)
}

/** The process that a file runs in: the one whose name says most of its path. */
const processOf = (file: string): string => {
  const [name = OTHERS] = PROCESSES.filter((begin) => file.startsWith(begin)).sort(
    (one, other) => other.length - one.length,
  )
  return isSystem(file) ? `${name}.system` : name
}

const found = globSync('**/*.test.ts', { cwd: import.meta.dirname })
  .map((file) => file.split(sep).join('/'))
  .filter(isInPart)
if (found.length === 0) throw new Error(`No file of tests begins with ${beginnings.join(' or ')}.`)

const order = (name: string): number =>
  PROCESSES.indexOf(name.replace('.system', '')) + (name.endsWith('.system') ? 0 : 0.5)
const processes = [...Map.groupBy(found.sort(), processOf)].sort(([one], [other]) => order(one) - order(other))
const folder = await mkdtemp(join(tmpdir(), 'guard-tests-'))
// what is made once for all processes
process.env.GUARD_TEST_SHARED = folder
if (part !== undefined) process.env.GUARD_TEST_PART = part
// one server for all, with a database for each test
let stopPostgres = async (): Promise<void> => {}
if (part === 'system' && process.env.GUARD_TEST_POSTGRES_URL === undefined) {
  const { needsOwnPostgres, PostgresServer } = await import('./kit/postgres.ts')
  if (needsOwnPostgres.skip === false) {
    const server = await PostgresServer.start(['max_connections=500'])
    process.env.GUARD_TEST_POSTGRES_URL = server.url
    stopPostgres = () => server.remove()
  }
}
// a child gateway starts from the sources in twice the time
if (part === 'system' || options.installed === true) {
  const { folder: installed, bin } = await packPackage()
  process.env.GUARD_TEST_PROGRAM = bin
  if (options.installed === true) process.env.GUARD_TEST_PACKAGE = installed
}

/** A program that runs files, in place of the sources against the installed package where `GUARD_TEST_PACKAGE` says where that is. */
const program = (files: readonly string[]): string => {
  const resolve =
    process.env.GUARD_TEST_PACKAGE === undefined
      ? []
      : [`import '${join(import.meta.dirname, 'resolve-installed.ts')}'`]
  return [
    ...resolve,
    `import { load } from '${join(import.meta.dirname, 'load.ts')}'`,
    `load(${JSON.stringify(files)})`,
  ].join('\n')
}

const programs: string[] = []
for (const [name, members] of processes) {
  const file = join(folder, `${name.replaceAll('/', '-')}.mjs`)
  await writeFile(file, program(members))
  programs.push(file)
}
// more than there are processors, since many of them wait for others: browsers, gateways, what they build; what hangs fails in the end
const began = performance.now()
run({ files: programs, concurrency: availableParallelism() + 2, timeout: 900_000 })
  .on('test:summary', ({ file, success }) => {
    if (file === undefined && !success) process.exitCode = 1
  })
  .once('close', () => void end())
  .compose(spec)
  .pipe(process.stdout)

const end = async (): Promise<void> => {
  await stopPostgres()
  const costs = await readCosts(folder)
  await rm(folder, { recursive: true })
  process.stdout.write(report(costs, (performance.now() - began) / 1000))
  if (options.times !== undefined) await writeFile(options.times, JSON.stringify(costs, null, 1))
  const tooCostly = process.env.CI === undefined || part !== 'fast' ? [] : checkCosts(costs)
  if (tooCostly.length > 0) {
    process.exitCode = 1
    process.stdout.write(`${tooCostly.join('\n')}\n`)
  }
}
