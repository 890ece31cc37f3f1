// Gives tests the installed package in place of the sources, and refuses what is not public in it.
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const importer = pathToFileURL(join(process.env.GUARD_TEST_PACKAGE ?? '', 'importer.js')).href
const sources = ['core', 'plugins', 'presets'].map((name) => new URL(`../${name}/`, import.meta.url).href)

registerHooks({
  resolve: (specifier, context, next) => {
    if (/^guard-gateway($|\/)/.test(specifier)) return next(specifier, { ...context, parentURL: importer })
    const found = next(specifier, context)
    if (sources.some((folder) => found.url.startsWith(folder)))
      throw new Error(`${context.parentURL} imports the source ${found.url}, which no user of the package has.`)
    return found
  },
})
