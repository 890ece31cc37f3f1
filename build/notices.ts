import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Bundled {
  readonly name: string
  readonly version: string
  readonly license?: string
}

const ALLOWED: ReadonlySet<string> = new Set([
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
  'BlueOak-1.0.0',
])

/** The licences of the packages that the modules belong to. Throws for a licence that is not known to allow it. */
export const noticesOf = (modules: readonly string[]): string => {
  const folders = new Set(modules.map(packageFolder).filter((folder) => folder !== undefined))
  const parts = [...folders].map(noticeOf).toSorted()
  return `Guard Gateway contains code of these packages.\n\n${[...new Set(parts)].join('\n')}`
}

const packageFolder = (module: string): string | undefined => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module)?.[0]

const noticeOf = (folder: string): string => {
  const { name, version, license = '' } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Bundled
  if (!ALLOWED.has(license))
    throw new Error(`${name} has the license "${license}": leave it out of the chunks, or allow the license.`)
  return `${'-'.repeat(80)}\n${name} ${version} (${license})\n\n${licenseText(folder).trim()}\n`
}

/** A package of a repository of many may leave the text to the root of the repository. */
const licenseText = (folder: string): string => {
  const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying)/i.test(name))
  return file === undefined
    ? 'The package holds no further text of the license.'
    : readFileSync(join(folder, file), 'utf8')
}
