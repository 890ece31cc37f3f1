import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, posix } from 'node:path'
import { type OutputChunk, type Plugin, rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import { publicSources } from '../entries.ts'
import { root } from '../project.ts'
import { amended, withLibraries } from './amend.ts'
import { sourceOf } from './own-names.ts'

/**
 * Writes a declaration a public name and what they share into `types`, with the types of packages that they name.
 * They are CommonJS's (`.d.cts`), which modules of both kinds can import under every setting of TypeScript; modules
 * have a file beside it that passes it on.
 */
export const bundleDeclarations = async (work: string, folder: string): Promise<readonly string[]> => {
  const names = publicSources().map((source) => source.replace(/\.[jt]s$/, ''))
  const bundle = await rolldown({
    cwd: root,
    input: Object.fromEntries(names.map((name) => [name, join(work, `${name}.d.ts`)])),
    plugins: [resolver(work), dts({ dtsInput: true, emitDtsOnly: true, oxc: true, tsconfig: false })],
    onLog: (level, log, handle) => {
      if (log.code !== 'CIRCULAR_DEPENDENCY' && log.code !== 'PLUGIN_TIMINGS')
        handle(level === 'warn' ? 'error' : level, log)
    },
  })
  const { output } = await bundle.generate({
    format: 'esm',
    entryFileNames: ({ name }) => `${plain(name)}.d.cts`,
    chunkFileNames: ({ name }) => `types/${plain(name)}-[hash].d.cts`,
  })
  await bundle.close()
  const chunks = output.filter((file): file is OutputChunk => file.type === 'chunk')
  for (const { fileName, code, isEntry } of chunks) {
    const file = join(folder, fileName)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, withLibraries(code.replaceAll(SHIM, `'${shimFrom(fileName)}'`)))
    if (isEntry) await writeFile(file.replace(/\.d\.cts$/, '.d.ts'), passing(basename(fileName)))
  }
  return chunks.flatMap(({ moduleIds }) => moduleIds).filter((id) => !id.startsWith(work))
}

const plain = (name: string): string => name.replace(/\.d$/, '')
const passing = (file: string): string => `export * from './${file.replace(/\.d\.cts$/, '.cjs')}'\n`

const SHIM = /['"]guard:fastify['"]/g
const shimFrom = (file: string): string => {
  const path = posix.relative(posix.dirname(file), 'types/fastify.cjs')
  return path.startsWith('.') ? path : `./${path}`
}

/** Finds declarations of our own and those of packages that become part of ours. */
const resolver = (work: string): Plugin => ({
  name: 'guard-declarations',
  resolveId: {
    order: 'pre',
    handler: (id, importer) => {
      if (id === 'fastify') return { id: 'guard:fastify', external: true }
      if (/^(node:|https?$|fast-check$)/.test(id)) return { id, external: true }
      if (id.startsWith('guard-gateway')) return join(work, declarationOf(sourceOf(id)))
      if (id.startsWith('.') && importer?.startsWith(work)) return join(dirname(importer), declarationOf(id))
      return undefined
    },
  },
  load: async (id) =>
    /\.d\.[cm]?ts$/.test(id) ? { code: amended(id, await readFile(id, 'utf8')), moduleType: 'ts' } : undefined,
})

/** Declarations name sources. */
const declarationOf = (source: string): string => source.replace(/\.[jt]s$/, '.d.ts')
