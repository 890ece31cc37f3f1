import { readdir } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { renamedExports } from './renamed-exports.ts'

const ABSENT =
  /'[^']*guard-gateway\/(?:core|lib)[^']*' does not provide an export named '(\w+)'|'(?:file:[^']*\/)?(?:core\/index|lib\/[\w-]+)\.[jt]s' does not provide an export named '(\w+)'/
const LIBRARIES = join(import.meta.dirname, '../../plugins/lib')

/** Names the module of an export that moved from `guard-gateway/core` to a library or was renamed; empty for any other error. */
export const movedExportHint = async ({ message }: Error): Promise<string> => {
  const [, named, inFile] = ABSENT.exec(message) ?? []
  const before = named ?? inFile
  if (before === undefined) return ''
  const renamed = Object.hasOwn(renamedExports, before) ? renamedExports[before] : undefined
  const name = renamed ?? before
  const module = await moduleWith(name)
  if (module === undefined) return ''
  const what = renamed === undefined ? 'It has moved' : `It is called ${renamed} now`
  return `. ${what}: import { ${name} } from '${module}'.`
}

const moduleWith = async (name: string): Promise<string | undefined> => {
  const libraries = (await readdir(LIBRARIES)).filter((file) => /(?<!\.d)\.[jt]s$/.test(file))
  for (const module of ['core', ...libraries.map((file) => `lib/${basename(file, extname(file))}`)]) {
    const exported: object = await import(`guard-gateway/${module}`)
    if (Object.hasOwn(exported, name)) return `guard-gateway/${module}`
  }
}
