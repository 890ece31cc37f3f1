// Runs the package of the SDK in Node, Bun and Deno against a gateway, without a network: npm run test:runtimes [-- --dir <folder to install into>]
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { isIsolated, runIsolated } from '../agents/isolate.ts'
import { type Service, startService } from '../kit/service.ts'
import { type ProgramName, programs } from './programs.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')

interface Runtime {
  readonly name: string
  /** Package of the program for Linux on x64, with its version. */
  readonly package?: readonly [name: string, version: string]
  readonly command: (folder: string) => readonly [file: string, ...args: string[]]
}

const runtimes: readonly Runtime[] = [
  { name: 'node', command: () => [process.execPath] },
  {
    name: 'bun',
    package: ['@oven/bun-linux-x64', '1.4.5'],
    command: (folder) => [join(folder, 'node_modules/@oven/bun-linux-x64/bin/bun')],
  },
  {
    name: 'deno',
    package: ['@deno/linux-x64-glibc', '2.9.6'],
    command: (folder) => [join(folder, 'node_modules/@deno/linux-x64-glibc/deno'), 'run', '-A'],
  },
]

/** Installs the runtimes and the packed SDK, with no install script. */
const install = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true })
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` }
  const built = join(folder, 'built')
  await run(process.execPath, ['--conditions=guard-source', 'plugins/replay/sdk/package/build.ts', built], {
    cwd: root,
  })
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: built, env })
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
  await writeFile(join(folder, 'package.json'), '{"private":true}')
  const packages = runtimes.flatMap((runtime) => (runtime.package === undefined ? [] : [runtime.package.join('@')]))
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', join(folder, filename), ...packages]
  await run('npm', words, { cwd: folder, env, timeout: 300_000 })
  for (const [file, text] of Object.entries(programs)) await writeFile(join(folder, file), text)
}

const told: readonly RegExp[] = [
  /^1 record was not stored\. Nobody answers at http:\/\/127\.0\.0\.1:60999\. Start the gateway/,
  /^1 record was not stored\. https:\S+ does not speak https\. Is it http:\S+\?$/,
  /^1 record was not stored\. There is no host "no-such-host\.invalid"\./,
  /^baseUrl "\S+\/v1" is an address for clients of models; the gateway is \S+, which is used now\.$/,
]

/** What is wrong with what a program printed and stored; empty if nothing is. */
const faultsOf = async (
  service: Service,
  id: string,
  program: ProgramName,
  out: string,
): Promise<readonly string[]> => {
  const printed: unknown = JSON.parse(out)
  if (program === 'wrong.mjs') {
    const said = printed as readonly string[]
    const odd = told.filter((pattern, at) => !pattern.test(said[at] ?? ''))
    return said.length === told.length && odd.length === 0 ? [] : said
  }
  const { failed = 0, unknown = 0 } = printed as { failed?: number; unknown?: number }
  const { status, text } = await service.request('GET', `/api/v1/runs/${id}`)
  if (failed + unknown > 0 || status !== 200) return [out, text]
  const { run: stored, spans } = JSON.parse(text)
  const expected = program === 'esm.mjs' ? ['error', 6, 10] : ['ok', 2, 0]
  const found = [stored.status, spans.length, stored.input_tokens]
  return String(found) === String(expected) ? [] : [`${id}: ${found} instead of ${expected}`]
}

const { values } = parseArgs({ options: { dir: { type: 'string' } } })
const folder = resolve(values.dir ?? (await mkdtemp(join(tmpdir(), 'guard-runtimes-'))))

const play = async (): Promise<number> => {
  const service = await startService()
  const env = { PATH: process.env.PATH, HOME: join(folder, 'home'), NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1' }
  await mkdir(env.HOME, { recursive: true })
  let wrong = 0
  for (const { name, command } of runtimes) {
    for (const program of Object.keys(programs) as ProgramName[]) {
      const id = `${name}-${program.replace(/\..*/, '')}`
      const [file, ...args] = command(folder)
      const words = [...args, join(folder, program), service.gateway.url, id]
      const faults = await run(file, words, { cwd: folder, env, timeout: 60_000 })
        .then(({ stdout }) => faultsOf(service, id, program, stdout))
        .catch((error: Error) => [error.message])
      process.stdout.write(`${faults.length === 0 ? 'ok  ' : 'FAIL'}  ${name}  ${program}\n`)
      for (const fault of faults) process.stdout.write(`      ${fault}\n`)
      wrong += faults.length
    }
  }
  await service[Symbol.asyncDispose]()
  return wrong === 0 ? 0 : 1
}

if (isIsolated()) process.exit(await play())
await install(folder)
process.exit(await runIsolated([import.meta.filename, '--dir', folder]))
