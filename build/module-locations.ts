import { posix, relative } from 'node:path'
import type { Plugin } from 'rolldown'
import { addressedPackages } from './entries.ts'
import { MARK, mark } from './location-mark.ts'
import { placeOfPackageFile } from './package-files.ts'
import { root } from './project.ts'

/**
 * Lets modules know the location that their entry has in the package, wherever their code is: `import.meta.url` of
 * `plugins/lib/parser-process/parser-process.ts` in a chunk is still `dist/plugins/lib/parser-process/parser-process.js`.
 */
export const moduleLocations: Plugin = {
  name: 'guard-module-locations',
  transform: {
    filter: { id: { include: /\.[jt]s$/, exclude: /node_modules/ }, code: /import\.meta\./ },
    handler: (code, id) => {
      const module = relative(root, id).replaceAll('\\', '/').replace(/\.ts$/, '.js')
      return {
        code: code
          .replace(LOCATION, (_, kind: string) => mark(kind, module))
          .replace(PACKAGE, (_, name: string) => mark('url', placeOfPackage(name))),
      }
    },
  },
  renderChunk: (code, { fileName }) => {
    if (!code.includes(MARK)) return null
    return code.replace(MARKED, (_, kind: string, module: string) =>
      located(kind, `new URL("${posix.relative(posix.dirname(fileName), module)}", import.meta.url)`),
    )
  },
}

const LOCATION = /\bimport\.meta\.(url|filename|dirname)\b/g
/** A name of a package or of a file in it, not one of our own. */
const PACKAGE = /\bimport\.meta\.resolve\('(?!guard-gateway\b)([^']+)'\)/g
const placeOfPackage = (name: string): string =>
  name in addressedPackages ? `vendor/${name}.js` : placeOfPackageFile(name)

const MARKED = new RegExp(`${MARK}\\(\\s*"(\\w+)",\\s*"([^"]+)"\\s*\\)`, 'g')

const located = (kind: string, url: string): string => {
  if (kind === 'url') return `${url}.href`
  const path = `process.getBuiltinModule("node:url").fileURLToPath(${url})`
  return kind === 'filename' ? path : `process.getBuiltinModule("node:path").dirname(${path})`
}
