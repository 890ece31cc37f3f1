// npm run release -- patch|minor|major|X.Y.Z [--dry-run]: makes a version, its changelog, packages, commit and tag. Publishes and pushes nothing.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../project.ts'
import { publishingOf, release, weightsOf } from './release.ts'
import { nextVersion } from './version.ts'
import { git, refuseUnready } from './work-tree.ts'

/** A clone of what is committed, with the packages that are installed here. */
const cloneOf = (folder: string): string => {
  const copy = mkdtempSync(join(tmpdir(), 'guard-release-'))
  git(folder, 'clone', '--quiet', '--depth', '1', `file://${folder}`, join(copy, 'source'))
  // who tries it need not have told git who they are
  for (const [name, value] of [
    ['user.name', 'Dry run'],
    ['user.email', 'dry-run@localhost'],
  ] as const)
    git(join(copy, 'source'), 'config', name, value)
  symlinkSync(join(folder, 'node_modules'), join(copy, 'source/node_modules'))
  return copy
}

const main = async (): Promise<void> => {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { 'dry-run': { type: 'boolean' } } })
  const [word] = positionals
  if (word === undefined || positionals.length > 1)
    throw new Error('Usage: npm run release -- patch|minor|major|X.Y.Z [--dry-run]')
  const { version: last } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const version = nextVersion(last, word)
  if (values['dry-run'] !== true) {
    refuseUnready(root, version)
    execFileSync('npm', ['run', '-s', 'check'], { cwd: root, stdio: 'inherit' })
    const packages = await release(root, version, join(root, 'dist-release'))
    console.log(`${weightsOf(packages)}\n${publishingOf(version, packages)}`)
    return
  }
  const copy = cloneOf(root)
  try {
    console.log(weightsOf(await release(join(copy, 'source'), version, join(copy, 'packages'))))
    console.log('A dry run: all of this was done in a copy, which is gone.')
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

try {
  await main()
} catch (fault) {
  console.error(`error: ${(fault as Error).message}`)
  process.exitCode = 1
}
