import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
export const root = join(import.meta.dirname, '..')
export const modules = join(root, 'node_modules')

export interface Manifest {
  /** Null: such a name is nobody else's affair. */
  readonly exports: Readonly<Record<string, string | { readonly 'guard-source': string } | null>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly scripts: Readonly<Record<string, string>>
  readonly version: string
}
export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest

interface Pack {
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

/** The package as it is published, installed by npm, with a project of its own that uses it. */
export class PackedPackage {
  /** Where it is installed. */
  readonly folder: string
  /** The program of a user, below that folder. */
  readonly project: string
  /** Paths of its files. */
  readonly files: readonly string[]
  /** Bytes of the file that npm makes. */
  readonly size: number
  /** Of Node, by which it runs. */
  readonly program: string
  readonly #isShared: boolean

  constructor(folder: string, project: string, isShared: boolean) {
    this.folder = folder
    this.project = project
    this.#isShared = isShared
    const { files, size } = JSON.parse(readFileSync(join(folder, 'pack.json'), 'utf8')) as Pack
    this.files = files.map(({ path }) => path)
    this.size = size
    this.program = process.env.GUARD_TEST_NODE ?? process.execPath
  }

  /** What npm made. */
  get archive(): string {
    return join(this.folder, `guard-gateway-${manifest.version}.tgz`)
  }

  get installed(): string {
    return join(this.folder, 'node_modules/guard-gateway')
  }

  /** As those who install it get it. */
  get manifest(): Manifest {
    return JSON.parse(readFileSync(join(this.installed, 'package.json'), 'utf8'))
  }

  /** The program `guard`. */
  get bin(): string {
    return join(this.installed, 'dist/presets/default/bin.js')
  }

  /** What is installed for a test alone is not worth keeping compiled. */
  readonly env = { PATH: process.env.PATH, NODE_DISABLE_COMPILE_CACHE: '1' }

  node(...argv: string[]) {
    return run(this.program, argv, { cwd: this.project, env: this.env })
  }

  async script(text: string) {
    const file = join(this.project, 'script.mjs')
    await writeFile(file, text)
    return this.node(file)
  }

  remove(): Promise<void> {
    return rm(this.#isShared ? this.project : this.folder, { recursive: true, force: true })
  }
}

/** The package, built, packed and installed once for all processes of a run, with a new project. */
export const packPackage = async (): Promise<PackedPackage> => {
  const shared = process.env.GUARD_TEST_SHARED
  const folder =
    shared === undefined ? await installedIn(await mkdtemp(join(tmpdir(), 'guard-package-'))) : await sharedIn(shared)
  return new PackedPackage(folder, await mkdtemp(join(folder, 'project-')), shared !== undefined)
}

/** Whoever comes first installs; the others wait until it has. */
const sharedIn = async (shared: string): Promise<string> => {
  const [ready, failed] = [join(shared, 'package'), join(shared, 'package-failed')]
  try {
    await mkdir(join(shared, 'package-lock'))
  } catch {
    while (!existsSync(ready)) {
      if (existsSync(failed)) throw new Error(readFileSync(failed, 'utf8'))
      await setTimeout(100)
    }
    return ready
  }
  try {
    await rename(await installedIn(await mkdtemp(join(shared, 'package-'))), ready)
    return ready
  } catch (error) {
    await writeFile(failed, String(error))
    throw error
  }
}

/** Builds a copy of the sources, packs it and installs it, without a network. */
const installedIn = async (folder: string): Promise<string> => {
  const source = await mkdtemp(join(tmpdir(), 'guard-package-source-'))
  // a copy is built, so that the folder under test stays as it is
  for (const name of [
    'core',
    'plugins',
    'presets',
    'examples',
    'bench',
    'build',
    'test/kit',
    'test/conformance',
    'test/kit.ts',
  ])
    await cp(join(root, name), join(source, name), { recursive: true })
  for (const name of ['package.json', 'tsconfig.json', 'LICENSE', 'CHANGELOG.md'])
    await cp(join(root, name), join(source, name))
  await symlink(modules, join(source, 'node_modules'))
  await run(process.execPath, ['--conditions=guard-source', join(source, 'build/run.ts')], { cwd: source })
  await run(process.execPath, [join(source, 'build/manifest.ts'), 'publish'], { cwd: source })
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: source,
  })
  await rm(source, { recursive: true })
  const [pack] = JSON.parse(stdout) as Pack[]
  if (pack === undefined) throw new Error(stdout)
  await writeFile(join(folder, 'pack.json'), JSON.stringify(pack))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  // what it depends on comes from here instead of the registry, and nothing else does
  const local = ['better-sqlite3', 'node-addon-api'].map((name) => `file:${join(modules, name)}`)
  const flags = ['--offline', '--no-audit', '--no-fund', '--install-links', '--ignore-scripts']
  await run('npm', ['install', ...flags, `./${pack.filename}`, ...local], { cwd: folder })
  // what its test kit asks for, and what an example asks for
  for (const name of ['fast-check', '@types/node', 'aws4', '@types/aws4']) {
    await mkdir(join(folder, 'node_modules', name, '..'), { recursive: true })
    await symlink(join(modules, name), join(folder, 'node_modules', name))
  }
  return folder
}
