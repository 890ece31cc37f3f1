/**
 * Plants small faults in the product, one at a time and each in a copy, and says which of them the fast tests catch.
 * --count and --seed choose the faults, --files and --changed (since a commit) the files. What survives is for a reader to judge: a test is
 * missing, or the fault changes nothing.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, matchesGlob } from 'node:path'
import { run } from 'node:test'
import { parseArgs } from 'node:util'
import { API } from 'typescript/unstable/sync'
import { random } from '../../bench/kit/random.ts'
import { filesBelow, read, root } from '../architecture/sources.ts'
import { type Fault, faultsIn } from './faults.ts'
import { roomOf, testsOf } from './nearest.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '25' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    files: { type: 'string', multiple: true, default: [] },
    changed: { type: 'string' },
    jobs: { type: 'string', default: '2' },
  },
})

/** How many of the nearest files of tests are tried first, and then; after them all of the room, and what the gateway promises. */
const NEAREST = [3, 12]
/** So long ends no test: it hangs. Seconds, those left out in which this process is stopped itself. */
const SILENCE = 60
/** Draws that the compiler may refuse for each fault that it accepts. */
const MAX_DRAWS = 20

interface Planted extends Fault {
  readonly file: string
  readonly source: string
}

// ---- which faults

const wanted = [...options.files, ...positionals]
const changed =
  options.changed === undefined
    ? undefined
    : new Set(
        execFileSync('git', ['diff', '--name-only', options.changed], { cwd: root, encoding: 'utf8' }).split('\n'),
      )

const files = ['core', 'plugins', 'presets', 'build']
  .flatMap((folder) => filesBelow(folder))
  .filter((file) => !file.startsWith('plugins/docs/guide/') && !file.startsWith('plugins/ui/assets/'))
  .filter((file) => wanted.length === 0 || wanted.some((one) => file.startsWith(one) || matchesGlob(file, one)))
  .filter((file) => changed?.has(file) ?? true)
if (files.length === 0) throw new Error('No file of the product is meant.')

const next = random(Number(options.seed))
const oneOf = <Item>(items: readonly Item[]): Item => items[Math.floor(next() * items.length)] as Item

/** A file is drawn as often as it has lines, a kind of fault as often as each other kind. */
const draw = (): readonly Planted[] => {
  const config = join(root, 'tsconfig.json')
  const replaced = new Map<string, string>()
  const compiler = new API({ cwd: root, fs: { readFile: (path) => replaced.get(path) } })
  const open = compiler.updateSnapshot({ openProjects: [config] })
  const lines = files.flatMap((file) => Array<string>(read(file).split('\n').length).fill(file))
  const isAccepted = (planted: Planted): boolean => {
    const path = join(root, planted.file)
    replaced.set(path, mutated(planted))
    const check = compiler.updateSnapshot({ fileChanges: { changed: [path] } })
    const faults = check.getProject(config)?.program.getSemanticDiagnostics(path) ?? []
    replaced.delete(path)
    compiler.updateSnapshot({ fileChanges: { changed: [path] } })
    return faults.every(({ reportsUnnecessary }) => reportsUnnecessary === true)
  }
  const drawn = new Map<string, Planted>()
  for (let draws = Number(options.count) * MAX_DRAWS; draws > 0 && drawn.size < Number(options.count); draws--) {
    const file = oneOf(lines)
    const source = open.getProject(config)?.program.getSourceFile(join(root, file))
    const faults = source === undefined ? [] : [...Map.groupBy(faultsIn(source), ({ kind }) => kind).values()]
    if (source === undefined || faults.length === 0) continue
    const planted = { ...oneOf(oneOf(faults)), file, source: source.text }
    const key = `${file} ${planted.start} ${planted.text}`
    if (!drawn.has(key) && isAccepted(planted)) drawn.set(key, planted)
  }
  compiler.close()
  return [...drawn.values()]
}

const mutated = ({ source, start, end, text }: Planted): string => source.slice(0, start) + text + source.slice(end)

const described = ({ file, source, start, end, text }: Planted): string => {
  const short = (code: string): string => code.replaceAll(/\s+/g, ' ').slice(0, 100)
  const before = source.slice(0, start)
  const line = source.slice(before.lastIndexOf('\n') + 1, source.indexOf('\n', start)).trim()
  return `${file}:${before.split('\n').length}  ${short(source.slice(start, end))} → ${short(text)}    in: ${short(line)}`
}

// ---- which tests catch them

/** A copy of the checkout, with its own cache of compiled modules. */
const makeCopy = (folder: string): void => {
  const own = ['.git', 'node_modules', 'dist', 'dist-sdk', 'dist-release']
  for (const entry of readdirSync(root).filter((name) => !own.includes(name)))
    cpSync(join(root, entry), join(folder, entry), { recursive: true, verbatimSymlinks: true })
  mkdirSync(join(folder, 'node_modules'))
  for (const entry of readdirSync(join(root, 'node_modules')).filter((name) => name !== '.cache'))
    symlinkSync(join(root, 'node_modules', entry), join(folder, 'node_modules', entry))
}

interface Failure {
  readonly file: string
  readonly test: string
}

/** The first failure of these files, which run in one process. */
const firstFailure = async (copy: string, tests: readonly string[]): Promise<Failure | undefined> => {
  if (tests.length === 0) return undefined
  const program = join(copy, 'program.mjs')
  const names = tests.map((test) => test.slice('test/'.length))
  writeFileSync(program, `import { load } from './test/load.ts'\nload(${JSON.stringify(names)})\n`)
  const controller = new AbortController()
  let innermost: string | undefined
  let failure: Failure | undefined
  const fail = (file: string, test: string): void => {
    failure ??= { file, test }
    controller.abort()
  }
  let silent = 0
  const watch = setInterval(() => {
    if (++silent === SILENCE) fail('', `no test ended for ${SILENCE} s`)
  }, 1_000)
  const stream = run({ files: [program], cwd: copy, signal: controller.signal })
    .on('test:complete', ({ name, nesting, details, todo }) => {
      silent = 0
      if (details.passed || (todo !== undefined && todo !== false)) return
      innermost ??= name
      if (nesting === 0) fail(names.includes(name) ? `test/${name}` : '', innermost)
    })
    .resume()
  await new Promise((resolve) => stream.once('close', resolve))
  clearInterval(watch)
  return failure
}

/** Files whose tests fail without a fault too, and those that were tried. */
const sound = new Map<string, boolean>()

const isSound = async (copy: string, file: string): Promise<boolean> => {
  // the process ended, or hangs
  if (file === '') return true
  const known = sound.get(file) ?? (await firstFailure(copy, [file])) === undefined
  sound.set(file, known)
  return known
}

const catcherOf = async (copy: string, planted: Planted): Promise<Failure | undefined> => {
  const all = testsOf(planted.file)
  const [first, nearest] = NEAREST.map((count) => all.slice(0, count)) as [string[], string[]]
  const further = (folder: string) => all.filter((test) => test.startsWith(folder) && !nearest.includes(test))
  const groups = [first, nearest.slice(first.length), further(`test/${roomOf(planted.file)}/`), further('test/spec/')]
  for (const group of groups)
    for (let left = group.filter((test) => sound.get(test) !== false); ; ) {
      writeFileSync(join(copy, planted.file), mutated(planted))
      const failure = await firstFailure(copy, left)
      writeFileSync(join(copy, planted.file), planted.source)
      if (failure === undefined) break
      if (await isSound(copy, failure.file)) return failure
      left = left.filter((test) => test !== failure.file)
    }
  return undefined
}

const faults = draw()
process.stdout.write(`${faults.length} faults, --seed ${options.seed}\n`)
const folder = mkdtempSync(join(tmpdir(), 'guard-mutants-'))
const waiting = [...faults]
const survivors: Planted[] = []

const work = async (_: unknown, job: number): Promise<void> => {
  const copy = join(folder, String(job))
  makeCopy(copy)
  for (let planted = waiting.shift(); planted !== undefined; planted = waiting.shift()) {
    const failure = await catcherOf(copy, planted)
    if (failure === undefined) survivors.push(planted)
    const verdict = failure === undefined ? 'SURVIVED' : 'caught  '
    const by = failure === undefined ? '' : `\n          by ${failure.file} ${failure.test}`
    process.stdout.write(`${verdict}  ${described(planted)}${by}\n`)
  }
}

try {
  await Promise.all(Array.from({ length: Number(options.jobs) }, work))
} finally {
  rmSync(folder, { recursive: true })
}
process.stdout.write(`\ncaught ${faults.length - survivors.length} of ${faults.length}; survived:\n`)
for (const planted of survivors) process.stdout.write(`${described(planted)}\n`)
