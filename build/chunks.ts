import { join } from 'node:path'
import type { CodeSplittingGroup } from 'rolldown'
import { threadSources } from './entries.ts'
import { root } from './project.ts'

type ChunkingContext = Parameters<Extract<CodeSplittingGroup['name'], (...args: never) => unknown>>[1]

/**
 * What processes and threads load when they start, by the modules that they begin with. Modules that the same ones
 * load are in one chunk, so that each reads few files and nothing that it does not need. As a chunk holds what a
 * module needs or a chunk of more starts does, chunks import one another in one direction.
 */
const starts: Readonly<Record<string, readonly string[]>> = {
  gateway: ['presets/default/process.ts', 'presets/default/commands.ts', 'presets/default/prestart-database.ts'],
  proxy: ['presets/default/process.ts', 'presets/mcp-stdio/index.ts'],
  core: ['core/index.ts'],
  sdk: ['plugins/replay/sdk/index.ts'],
  database: ['plugins/storage/sqlite/worker/worker.ts'],
  thread: threadSources(),
}

/** Names of the starts that load each module. */
const startsOfModules = (context: ChunkingContext): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, string[]>()
  const threads = new Set(threadSources().map((module) => join(root, module)))
  for (const [start, modules] of Object.entries(starts))
    for (const id of loadedWith(modules, context)) {
      // what works as soon as it is loaded has a file of its own
      if (threads.has(id)) continue
      const names = found.get(id)
      if (names === undefined) found.set(id, [start])
      else names.push(start)
    }
  return found
}

const loadedWith = (modules: readonly string[], context: ChunkingContext): ReadonlySet<string> => {
  const loaded = new Set(modules.map((module) => join(root, module)))
  for (const id of loaded) {
    const info = context.getModuleInfo(id)
    if (info === null) throw new Error(`${id}, with which something starts, is no module of the package.`)
    for (const imported of info.importedIds) if (context.getModuleInfo(imported) !== null) loaded.add(imported)
  }
  return loaded
}

/** Chunks of packages are in a folder of their own, by which errors of packages and of the project are told apart. */
export const isVendored = (id: string): boolean => id.includes('/node_modules/')

/** Divides modules among chunks. What no start loads is divided by the bundler. */
export const chunkGroups = (): CodeSplittingGroup[] => {
  let startsOf: ReturnType<typeof startsOfModules> | undefined
  const start = (id: string, context: ChunkingContext): string | undefined => {
    startsOf ??= startsOfModules(context)
    return startsOf.get(id)?.join('-')
  }
  return [
    {
      name: (id, context) => {
        const name = start(id, context)
        if (name === undefined) return null
        return isVendored(id) ? `vendor-${name}` : name
      },
      debugName: 'starts',
      priority: 2,
    },
    { name: 'vendor', test: isVendored, entriesAware: true, priority: 1 },
  ]
}
