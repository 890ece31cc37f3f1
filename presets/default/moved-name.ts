import { readdir } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'

const ABSENT =
  /'[^']*guard-gateway\/core[^']*' does not provide an export named '(\w+)'|'(?:file:[^']*\/)?core\/index\.[jt]s' does not provide an export named '(\w+)'/
const LIBRARIES = join(import.meta.dirname, '../../plugins/lib')

/** What to do about an import of a name that has left `guard-gateway/core` for a library; empty where the error is another one, or no library has the name. */
export const movedNameHint = async ({ message }: Error): Promise<string> => {
  const [, named, inFile] = ABSENT.exec(message) ?? []
  const name = named ?? inFile
  if (name === undefined) return ''
  for (const file of await readdir(LIBRARIES)) {
    if (!/(?<!\.d)\.[jt]s$/.test(file)) continue
    const library = `guard-gateway/lib/${basename(file, extname(file))}`
    const exported: object = await import(library)
    if (Object.hasOwn(exported, name)) return ` It has moved: import { ${name} } from '${library}'.`
  }
  return ''
}
