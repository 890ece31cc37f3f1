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

/** The licences of the packages that the modules belong to: texts that differ in the copyright alone stand once. Throws for a licence that is not known to allow it. */
export const noticesOf = (modules: readonly string[]): string => {
  const folders = new Set(modules.map(packageFolder).filter((folder) => folder !== undefined))
  const texts = Map.groupBy([...folders].map(noticeOf).toSorted(byName), ({ terms }) => terms.replaceAll(/\s+/g, ' '))
  const parts = [...texts.values()].map((notices) => {
    const packages = new Set(notices.map(({ name, copyright }) => [name, ...copyright].join('\n')))
    return `${'-'.repeat(80)}\n${[...packages].join('\n')}\n\n${notices[0]?.terms}\n`
  })
  return `Guard Gateway contains code of these packages.\n\n${parts.join('\n')}`
}

interface Notice {
  readonly name: string
  readonly copyright: readonly string[]
  readonly terms: string
}

const byName = (left: Notice, right: Notice): number => (left.name < right.name ? -1 : 1)

const packageFolder = (module: string): string | undefined => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module)?.[0]

const noticeOf = (folder: string): Notice => {
  const { name, version, license = '' } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Bundled
  if (!ALLOWED.has(license))
    throw new Error(`${name} has the license "${license}": leave it out of the chunks, or allow the license.`)
  const lines = licenseText(folder).trim().split(/\r?\n/)
  return {
    name: `${name} ${version} (${license})`,
    copyright: lines.filter((line) => COPYRIGHT.test(line)).map((line) => `  ${line.trim()}`),
    terms: lines
      .filter((line) => !COPYRIGHT.test(line))
      .join('\n')
      .trim(),
  }
}
const COPYRIGHT = /^\s*(?:copyright\b|\(c\)|\u00a9)/i

/** A package of a repository of many may leave the text to the root of the repository. */
const licenseText = (folder: string): string => {
  const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying)/i.test(name))
  return file === undefined
    ? 'The package holds no further text of the license.'
    : readFileSync(join(folder, file), 'utf8')
}
