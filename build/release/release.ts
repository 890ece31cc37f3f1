import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { changesIn, withSection } from './changelog.ts'
import { faultsOf, type Packed, packBoth } from './packages.ts'
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
