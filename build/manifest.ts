// `publish` turns package.json into that of the package while npm packs it; `restore` puts it back.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isPackageOfItsOwn } from './externals.ts'
import type { Manifest, PublicModule } from './project.ts'
import { root } from './project.ts'

const file = join(root, 'package.json')
const backup = join(root, '.package-with-sources.json')

/**
 * A manifest for those who install: what it names is in the package, and its dependencies are those that are not.
 * What only the repository needs is left out.
 */
const published = ({
  exports,
  imports,
  dependencies,
  devDependencies,
  scripts,
  overrides,
  allowScripts,
  ...rest
}: Published) => ({
  ...rest,
  exports: Object.fromEntries(
    Object.entries(exports).map(([name, target]) => [
      name,
      target === null || typeof target === 'string' ? target : forBothKinds(target),
    ]),
  ),
  dependencies: Object.fromEntries(Object.entries(dependencies).filter(([name]) => isPackageOfItsOwn(name))),
})

type Published = Manifest & Readonly<Record<string, unknown>>

/** Node requires modules as it imports them. TypeScript wants CommonJS's declarations for it. */
const forBothKinds = ({ types, default: module }: PublicModule) => ({
  import: { types, default: module },
  require: { types: types.replace(/\.d\.ts$/, '.d.cts'), default: module },
})

if (process.argv[2] === 'publish') {
  const text = readFileSync(file, 'utf8')
  if (!existsSync(backup)) writeFileSync(backup, text)
  writeFileSync(file, `${JSON.stringify(published(JSON.parse(readFileSync(backup, 'utf8'))), undefined, 2)}\n`)
} else if (existsSync(backup)) renameSync(backup, file)
