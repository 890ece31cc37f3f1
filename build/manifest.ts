// `publish` takes the sources, which are no part of the package, out of package.json while npm packs it; `restore` puts them back.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './project.ts'

const file = join(root, 'package.json')
const kept = join(root, '.package-with-sources.json')

/** A manifest with what installed packages have. */
const withoutSources = (text: string): string => text.replace(/^ *"guard-source": .*\n/gm, '')

if (process.argv[2] === 'publish') {
  const text = readFileSync(file, 'utf8')
  if (!existsSync(kept)) writeFileSync(kept, text)
  writeFileSync(file, withoutSources(text))
} else if (existsSync(kept)) renameSync(kept, file)
