import { isBuiltin } from 'node:module'
import { manifest } from './project.ts'

/** Dependencies that stay packages of their own: with native code. */
const external: ReadonlySet<string> = new Set(['better-sqlite3'])

/** Whether a dependency is installed beside the package, and not part of it. */
export const isPackageOfItsOwn = (name: string): boolean => external.has(name)

/** Whether a module stays outside of the chunks. Bundled packages bring their own dependencies. */
export const isExternal = (id: string, importer: string | undefined): boolean => {
  if (isBuiltin(id)) return true
  if (/^[./#]|^\0|^guard-gateway($|\/)|^@oxc-project\/runtime/.test(id)) return false
  const name = packageName(id)
  if (external.has(name)) return true
  return importer !== undefined && !importer.includes('/node_modules/') && !(name in manifest.dependencies)
}

const packageName = (id: string): string =>
  id
    .split('/')
    .slice(0, id.startsWith('@') ? 2 : 1)
    .join('/')
