import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { changesIn, withSection } from './changelog.ts'
import { git } from './work-tree.ts'

/** Makes a release in a folder of the sources. Resolves to its packages; throws, with the work tree as it was, if a package is faulty. */
export const release = async (root: string, version: string, target: string): Promise<readonly Packed[]> => {
  try {
    writeVersion(root, version)
    writeChangelog(root, version)
    recordDatabase(root, version)
    const packages = packBoth(root, target)
    const faults = (await Promise.all(packages.map(faultsOf))).flat()
    const others = packages.filter((one) => one.version !== version).map(({ name }) => `${name} has another version`)
    if (faults.length + others.length > 0) throw new Error([...faults, ...others].join('\n'))
    commit(root, version)
    return packages
  } catch (fault) {
    git(root, 'checkout', '--quiet', '--', 'package.json', 'package-lock.json', 'CHANGELOG.md', '.changes')
    git(root, 'clean', '--quiet', '--force', '--', DATABASES)
    throw fault
  }
}

/** The SDK's is made of the gateway's when it is built. */
const writeVersion = (root: string, version: string): void => {
  execFileSync('npm', ['version', version, '--no-git-tag-version', '--ignore-scripts'], { cwd: root, stdio: 'ignore' })
}

const writeChangelog = (root: string, version: string): void => {
  const file = join(root, 'CHANGELOG.md')
  const changes = changesIn(join(root, '.changes'))
  const date = new Date().toISOString().slice(0, 10)
  writeFileSync(file, withSection(readFileSync(file, 'utf8'), version, date, changes))
  for (const { file: name } of changes) rmSync(join(root, '.changes', name))
}

/** What later versions must be able to open. */
const recordDatabase = (root: string, version: string): void => {
  execFileSync('npm', ['run', '--silent', 'record:database', '--', version], { cwd: root, stdio: 'ignore' })
}
const DATABASES = 'test/data/databases'

const commit = (root: string, version: string): void => {
  git(root, 'add', 'package.json', 'package-lock.json', 'CHANGELOG.md', '.changes', DATABASES)
  git(root, 'commit', '--quiet', '--message', `Release ${version}`)
  git(root, 'tag', '--annotate', `v${version}`, '--message', `Version ${version}`)
}

/** What was packed, a line each. */
export const weightsOf = (packages: readonly Packed[]): string =>
  packages
    .map(
      ({ name, version, files, packed_bytes, bytes }) =>
        `${name} ${version}: ${files} files, ${(packed_bytes / 1e6).toFixed(1)} MB packed, ${(bytes / 1e6).toFixed(1)} MB`,
    )
    .join('\n')

/** The commands that publish a release, which are left to a person. */
export const publishingOf = (version: string, packages: readonly Packed[]): string => {
  const commands = ['git push --follow-tags', ...packages.map(({ file }) => `npm publish ${file}`)]
  return `Committed and tagged v${version}. To publish:\n${commands.map((line) => `  ${line}`).join('\n')}`
}

/** What each package may hold at most. */
const BUDGETS = {
  'guard-gateway': { files: 1_100, packed_bytes: 3_200_000, bytes: 12_000_000 },
  'guard-gateway-sdk': { files: 180, packed_bytes: 150_000, bytes: 600_000 },
} as const
type Name = keyof typeof BUDGETS

interface Packed {
  readonly name: Name
  readonly version: string
  readonly file: string
  readonly files: number
  readonly packed_bytes: number
  readonly bytes: number
}

/** Builds and packs the gateway and the SDK. */
const packBoth = (root: string, target: string): readonly Packed[] => {
  mkdirSync(target, { recursive: true })
  return [root, join(root, 'dist-sdk')].map((folder) => {
    const out = execFileSync('npm', ['pack', '--json', '--pack-destination', target], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [packed] = JSON.parse(out.slice(out.search(/^\[/m))) as [NpmPack]
    const { name, version, filename, files, size, unpackedSize } = packed
    return { name, version, file: join(target, filename), files: files.length, packed_bytes: size, bytes: unpackedSize }
  })
}

interface NpmPack {
  readonly name: Name
  readonly version: string
  readonly filename: string
  readonly files: readonly unknown[]
  readonly size: number
  readonly unpackedSize: number
}

/** What is wrong with a packed file, by its budget, its manifest and its types. */
const faultsOf = async (packed: Packed): Promise<readonly string[]> => {
  const bytes = readFileSync(packed.file)
  const budget = BUDGETS[packed.name]
  const over = (['files', 'packed_bytes', 'bytes'] as const).flatMap((what) =>
    packed[what] > budget[what] ? [`${what}: ${packed[what]}, more than ${budget[what]}`] : [],
  )
  const { messages, pkg } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer }, strict: true })
  const manifest = messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code)
  const found = [...over, ...manifest, ...(await typeFaults(bytes))]
  return found.map((fault) => `${packed.name} ${packed.version}: ${fault}`)
}

/** Node has required ES modules since 22.12, so that declarations for it describe ES modules. Node 10's way knows no `exports`. */
const EXPECTED: ReadonlySet<string> = new Set(['FalseCJS', 'CJSResolvesToESM'])

const typeFaults = async (bytes: Uint8Array): Promise<readonly string[]> => {
  const analysis = await checkPackage(createPackageFromTarballData(bytes))
  if (analysis.types === false) return ['there are no types']
  return analysis.problems.flatMap((problem) => {
    const at = 'entrypoint' in problem ? problem.entrypoint : ''
    const how = 'resolutionKind' in problem ? problem.resolutionKind : ''
    return EXPECTED.has(problem.kind) || how === 'node10' || at.endsWith('.txt') ? [] : [`${problem.kind} ${at} ${how}`]
  })
}
