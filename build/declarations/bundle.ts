import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, posix } from 'node:path'
import { type OutputChunk, type Plugin, rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import { publicSources } from '../entries.ts'
import { manifest, root } from '../project.ts'

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
      if (id.startsWith('#lib/')) return join(work, declarationOf(`./plugins/lib/${id.slice('#lib/'.length)}.ts`))
      if (id.startsWith('.') && importer?.startsWith(work)) return join(dirname(importer), declarationOf(id))
      return undefined
    },
  },
  load: async (id) =>
    /\.d\.[cm]?ts$/.test(id) ? { code: amended(id, await readFile(id, 'utf8')), moduleType: 'ts' } : undefined,
})

/** Declarations name sources. */
const declarationOf = (source: string): string => source.replace(/\.[jt]s$/, '.d.ts')

/** The source behind a public name: of `guard-gateway/lib/json`, `./plugins/lib/json.ts`. */
const sourceOf = (name: string): string => {
  const subpath = `.${name.slice('guard-gateway'.length)}`
  const found = Object.entries(manifest.exports).flatMap(([pattern, target]) => {
    if (target === null || typeof target === 'string') return []
    const [head = '', tail] = pattern.split('*')
    if (tail === undefined) return pattern === subpath ? [target['guard-source']] : []
    const star = subpath.slice(head.length)
    return subpath.startsWith(head) && !star.includes('/') ? [target['guard-source'].replace('*', star)] : []
  })
  const [source] = found
  if (source === undefined) throw new Error(`${name} is no public name.`)
  return source
}

/** Text of a declaration in a form that the bundler of declarations understands, with the same meaning. */
const amended = (file: string, text: string): string => {
  // a declaration without `export {}` exports all that it declares
  if (file.endsWith('/tapable.d.ts')) return text.replace(/^(?=(?:declare class|type|interface) )/gm, 'export ')
  // the one type of a package that says `export =`
  if (file.includes('/ajv/'))
    return text.replace(/^import .*from "fast-uri";?$/m, 'type URIComponent = Record<string, unknown>;')
  if (file.includes('/node_modules/typebox/')) return withoutShadows(text)
  // only our own code calls it
  if (file.includes('/node_modules/yaml/')) return text.replaceAll(/\/\*[\s\S]*?\*\//g, '')
  const short = text.replaceAll(FASTIFY_DEFAULTS, 'FastifyInstance')
  const isKnown = short === text || /^import .*\bFastifyInstance\b/m.test(short)
  return isKnown ? short : `import type { FastifyInstance } from 'fastify';\n${short}`
}

/** As the compiler writes out a type whose parameters are all left at their defaults. */
const FASTIFY_DEFAULTS =
  /(?:import\("fastify"\)\.)?FastifyInstance<import\("fastify"\)\.RawServerDefault, [^>]*<[^>]*>, [^>]*FastifyTypeProviderDefault>/g

/** TypeBox names types and parameters like the modules and functions beside them, which the bundler takes for these. */
const withoutShadows = (text: string): string => {
  const modules = [...text.matchAll(/^import \* as (\w+) /gm)].map(([, name = '']) => name)
  const renamed = modules.reduce(
    (all, name) =>
      all.replaceAll(new RegExp(`(?<=^import \\* as )${name}\\b|\\b${name}(?=\\.)`, 'gm'), `${name}Module`),
    text,
  )
  return renamed
    .replaceAll(/\bExtendsResult(?=\.)/g, 'ExtendsModule')
    .replace(/^(import .*)\bExtendsResult\b/m, '$1ExtendsResult as ExtendsModule')
    .replaceAll(/^.*\binfer Optional\b.*$/gm, (line) => line.replaceAll(/\bOptional\b/g, 'Modifier'))
    .replaceAll(/\bRecord<(\w+), (\w+)>/g, '{ [_ in $1]: $2 }')
}

/** What declarations use that is not in every consumer's `lib`, and where it is. */
const LIBRARIES: readonly (readonly [RegExp, string])[] = [
  [/\bPromiseWithResolvers\b/, 'es2024.promise'],
  [/\b(Async)?Disposable\b|\bSymbol\.(asyncD|d)ispose\b/, 'esnext.disposable'],
]

const withLibraries = (text: string): string =>
  LIBRARIES.filter(([use]) => use.test(text))
    .map(([, library]) => `/// <reference lib="${library}" />\n`)
    .join('') + text
