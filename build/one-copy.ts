import { createRequire } from 'node:module'
import { relative } from 'node:path'
import type { Plugin, PluginContext } from 'rolldown'

/**
 * Fails a build that would run other code than Node does: a package of which both forms are bundled, ES modules and
 * CommonJS, and a `require` that gets a module other than Node's, such as the namespace of a wrapper. `replaced`: names that lead elsewhere on purpose.
 */
export const oneCopy = (root: string, replaced: Readonly<Record<string, string>>): Plugin => ({
  name: 'guard-one-copy',
  resolveId: {
    filter: { id: /^[^\0./]/ },
    async handler(source, importer, { kind }) {
      if (kind !== 'require-call' || importer === undefined || source in replaced) return null
      const resolved = await this.resolve(source, importer, { kind, skipSelf: true })
      if (resolved === null || resolved.external !== false) return resolved
      const file = createRequire(importer).resolve(source)
      if (file === resolved.id) return resolved
      const at = (path: string): string => relative(root, path)
      throw new Error(
        `${at(importer)} requires ${source}, which is ${at(file)} to Node and would be ${at(resolved.id)} in the package: look at the conditions by which build/javascript.ts resolves.`,
      )
    },
  },
  buildEnd(error) {
    if (error !== undefined) return
    for (const [folder, modules] of packagesOf(this.getModuleIds())) {
      const second = secondForm(this, modules)
      if (second === undefined) continue
      throw new Error(
        `${relative(root, folder)} would be in the package twice, as ES modules and as CommonJS, each with a state of its own: ${second.slice(folder.length + 1)} is not what its ES modules load. ${importersOf(this, second, root)} Let all that load it get one form.`,
      )
    }
  },
})

const packagesOf = (ids: Iterable<string>): ReadonlyMap<string, readonly string[]> => {
  const packages = Map.groupBy(ids, (id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? '')
  packages.delete('')
  return packages
}

/** A CommonJS module that no ES module of its package loads, where there are some. A wrapper loads what it wraps. */
const secondForm = (context: PluginContext, modules: readonly string[]): string | undefined => {
  const format = (id: string) => context.getModuleInfo(id)?.inputFormat
  const loaded = new Set(modules.filter((id) => format(id) === 'es'))
  if (loaded.size === 0) return undefined
  for (const id of loaded) for (const imported of context.getModuleInfo(id)?.importedIds ?? []) loaded.add(imported)
  return modules.find((id) => format(id) === 'cjs' && !loaded.has(id))
}

const importersOf = (context: PluginContext, id: string, root: string): string => {
  const importers = context.getModuleInfo(id)?.importers.map((importer) => relative(root, importer)) ?? []
  return importers.length === 0 ? '' : `It is loaded by ${importers.join(', ')}.`
}
