import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isPackageOfItsOwn } from '../externals.ts'
import { root } from '../project.ts'
import { otherLicences, reasons } from './reasons.ts'

interface Locked {
  readonly version: string
  readonly license?: string
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
}
interface Project {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const json = <T>(file: string): T => JSON.parse(readFileSync(join(root, file), 'utf8')) as T

export interface Row {
  readonly name: string
  readonly reason: string
  readonly licence: string
  readonly scripts: boolean
  /** `package`: in the chunks; `installed`: beside the package; `repository`: not with users. */
  readonly where: 'package' | 'installed' | 'repository'
}

/** A direct dependency each. Throws for one without a reason, and for a reason without one. */
export const rowsOf = (
  { dependencies, devDependencies }: Project,
  packages: Readonly<Record<string, Locked>>,
  why: Readonly<Record<string, string>> = reasons,
): readonly Row[] => {
  const names = [...Object.keys(dependencies), ...Object.keys(devDependencies)].toSorted()
  const stale = Object.keys(why).filter((name) => !names.includes(name))
  if (stale.length > 0)
    throw new Error(`No dependency any more: ${stale.join(', ')}. Take it out of build/dependencies/reasons.ts.`)
  return names.map((name) => {
    const reason = why[name]
    if (reason === undefined)
      throw new Error(`${name} has no reason: say in build/dependencies/reasons.ts what it is for.`)
    const { license = 'none', hasInstallScript = false } = packages[`node_modules/${name}`] ?? {}
    const where = name in devDependencies ? 'repository' : isPackageOfItsOwn(name) ? 'installed' : 'package'
    return { name, reason, licence: license, scripts: hasInstallScript, where }
  })
}

const FREE = /^(MIT|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|BlueOak-1\.0\.0|MIT OR Apache-2\.0)$/

/** Packages with a licence that neither is one of ours nor was allowed by name. */
export const refusedLicences = (packages: Readonly<Record<string, Locked>>): readonly string[] =>
  Object.entries(packages).flatMap(([path, { license = 'none' }]) => {
    const name = nameAt(path)
    return path === '' || FREE.test(license) || name in otherLicences ? [] : [`${name} (${license})`]
  })

const nameAt = (path: string): string => path.replace(/^.*node_modules\//, '')

/** The document, with what is known without an installation: sizes and addresses are read from what is installed. */
export const dependencyDocument = (): string => {
  const { packages } = json<{ packages: Readonly<Record<string, Locked>> }>('package-lock.json')
  const project = json<Project>('package.json')
  const rows = rowsOf(project, packages).map(
    ({ name, reason, licence, scripts, where }) =>
      `| ${name} | ${reason} | ${where} | ${licence} | ${sizeOf(name)} | ${scripts ? 'yes' : ''} | ${sourceOf(name)} |`,
  )
  return `${HEAD}\n${rows.join('\n')}\n\n${TRANSITIVE}\n\n${transitive(project, packages)}\n\n${others()}\n`
}

const HEAD = `# Dependencies

Made by \`npm run record:dependencies\` from package.json, package-lock.json and \`build/dependencies/reasons.ts\`; a test compares them.

\`package\`: its code is in the package that users install, with its licence in \`dist/THIRD-PARTY-NOTICES.txt\`. \`installed\`: a package of its own that comes with it. \`repository\`: users never get it. Sizes are those of the installed files, in KB. Scripts: whether it has an install script; npm runs none but that of \`node\` here (\`allowScripts\`), and users get none.

| Package | What for | Where | Licence | KB | Scripts | Source |
|---|---|---|---|---|---|---|`
const TRANSITIVE = '## What these bring'

const transitive = (project: Project, packages: Readonly<Record<string, Locked>>): string => {
  const direct = new Set([...Object.keys(project.dependencies), ...Object.keys(project.devDependencies)])
  const found = Object.entries(packages).filter(([path]) => path !== '' && !direct.has(nameAt(path)))
  const lines = [false, true].map((dev) => {
    const ofKind = found.filter(([, { dev: isDev = false }]) => isDev === dev)
    const names = new Set(ofKind.map(([path, { version, license }]) => `${nameAt(path)} ${version} (${license})`))
    return `${dev ? 'In the repository' : 'With the package'}: ${[...names].toSorted().join(', ')}.`
  })
  return lines.join('\n\n')
}

const others = (): string =>
  `## Other licences\n\n${Object.entries(otherLicences)
    .map(([name, why]) => `- ${name}: ${why}.`)
    .join('\n')}`

const sizeOf = (name: string): number => {
  const folder = join(root, 'node_modules', name)
  const files = globSync('**/*', { cwd: folder }).map((file) => statSync(join(folder, file), { throwIfNoEntry: false }))
  return Math.round(files.reduce((sum, file) => sum + (file?.isFile() ? file.size : 0), 0) / 1000)
}

const sourceOf = (name: string): string => {
  const { repository } = json<{ repository?: string | { url: string } }>(`node_modules/${name}/package.json`)
  const url = typeof repository === 'string' ? repository : (repository?.url ?? '')
  const [, where = 'not said'] = /github(?:\.com[/:]|:)([\w.-]+\/[\w.-]+?)(?:\.git)?$/.exec(url) ?? [
    undefined,
    plain(url),
  ]
  return where
}

const plain = (url: string): string | undefined => /^[\w-]+\/[\w.-]+$/.exec(url)?.[0] ?? (url === '' ? undefined : url)
