import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

/** The package as it is published, in a project of somebody who has installed it. */
export class PackedPackage {
  readonly folder: string
  /** Paths of its files. */
  readonly files: readonly string[]
  /** Bytes of the file that npm makes. */
  readonly size: number

  constructor(folder: string, files: readonly string[], size: number) {
    this.folder = folder
    this.files = files
    this.size = size
  }

  /** What npm made. */
  get archive(): string {
    return join(this.folder, `guard-gateway-${manifest.version}.tgz`)
  }

  /** Where it is installed. */
  get project(): string {
    return join(this.folder, 'project')
  }

  get installed(): string {
    return join(this.project, 'node_modules/guard-gateway')
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
    return run(process.execPath, argv, { cwd: this.project, env: this.env })
  }

  async script(text: string) {
    const file = join(this.project, 'script.mjs')
    await writeFile(file, text)
    return this.node(file)
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true })
  }
}

/** Builds a copy of the sources, packs it and installs it, without a network. */
export const packPackage = async (): Promise<PackedPackage> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-package-'))
  const source = join(folder, 'source')
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
  const [pack] = JSON.parse(stdout) as { filename: string; size: number; files: { path: string }[] }[]
  if (pack === undefined) throw new Error(stdout)
  const one = new PackedPackage(
    folder,
    pack.files.map(({ path }) => path),
    pack.size,
  )
  await mkdir(one.installed, { recursive: true })
  await run('tar', ['-xzf', join(folder, pack.filename), '-C', one.installed, '--strip-components=1'])
  // what it declares, what its test kit asks for, and what an example asks for, nothing else
  const declared = Object.keys(one.manifest.dependencies)
  for (const name of [...declared, 'fast-check', '@types/node', 'aws4', '@types/aws4']) {
    await mkdir(join(one.project, 'node_modules', name, '..'), { recursive: true })
    await symlink(join(modules, name), join(one.project, 'node_modules', name))
  }
  await writeFile(join(one.project, 'package.json'), '{"type":"module"}')
  return one
}
