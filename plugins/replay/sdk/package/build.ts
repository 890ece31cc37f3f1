// Builds the SDK as a package of its own, `guard-gateway-sdk`: its sources, and the modules for redaction and text that it uses, without dependencies.
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, posix, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../../..')

/** Folders of the sources, and where their files stand in the package. */
const FOLDERS = [
  ['plugins/replay/sdk/', ''],
  ['plugins/redaction/', ''],
  ['plugins/lib/', ''],
] as const
/** Public names of modules that are part of the package. */
const OWN: Readonly<Record<string, string>> = {
  'guard-gateway/redact': './redact.js',
  'guard-gateway/text': './text.js',
}
const IMPORT = /(?<=\bfrom ['"]|\brequire\(['"]|\bimport\(['"])[^'"]+(?=['"])/g

interface Format {
  readonly name: 'esm' | 'cjs'
  readonly type: 'module' | 'commonjs'
  readonly compiler: Readonly<Record<string, unknown>>
}
const FORMATS: readonly Format[] = [
  { name: 'esm', type: 'module', compiler: {} },
  {
    name: 'cjs',
    type: 'commonjs',
    compiler: { module: 'commonjs', moduleResolution: 'bundler', verbatimModuleSyntax: false },
  },
]

/** Compiles the SDK with everything that its types name. Types are checked by `npm run check`. */
const compile = async ({ name, compiler }: Format, work: string): Promise<string> => {
  const outDir = join(work, name)
  const config = join(work, `tsconfig.${name}.json`)
  const options = { noCheck: true, types: ['node'], ...compiler }
  await writeFile(
    config,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { ...options, rootDir: root, outDir, typeRoots: [join(root, 'node_modules/@types')] },
      include: [],
      files: [join(root, 'plugins/replay/sdk/index.ts')],
    }),
  )
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config])
  return outDir
}

/** The place of a compiled file in the package; undefined for a module that is no part of it. */
const placeOf = (file: string): string | undefined => {
  const folder = FOLDERS.find(([from]) => file.startsWith(from))
  return folder === undefined ? undefined : folder[1] + file.slice(folder[0].length)
}

/** Copies a file and all that it imports. Node's own modules stay as they are. */
const copyReached = async (from: string, to: string, first: string): Promise<readonly string[]> => {
  const waiting = [first]
  const copied = new Set<string>()
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const place = placeOf(file)
    if (place === undefined) throw new Error(`The SDK needs ${file}, which is no part of its package.`)
    if (copied.has(place)) continue
    copied.add(place)
    const at = file
    const text = (await readFile(join(from, file), 'utf8')).replaceAll(IMPORT, (name) => {
      if (name.startsWith('node:')) return name
      const { written, target } = importOf(name, at)
      waiting.push(at.endsWith('.d.ts') ? target.replace(/\.js$/, '.d.ts') : target)
      return written
    })
    await mkdir(dirname(join(to, place)), { recursive: true })
    await writeFile(join(to, place), at.endsWith('sdk/api.d.ts') ? `${LIBRARIES}${text}` : text)
  }
  return [...copied]
}

/** An import as it is written in the package, and the compiled file that it means. Declarations name sources. */
const importOf = (name: string, file: string): { readonly written: string; readonly target: string } => {
  const own = OWN[name]
  if (own !== undefined) return { written: own, target: SOURCES[own] ?? '' }
  if (!name.startsWith('.')) throw new Error(`${file} imports ${name}, which is no part of its package.`)
  const written = name.replace(/\.ts$/, '.js')
  return { written, target: posix.join(posix.dirname(file), written) }
}

const SOURCES: Readonly<Record<string, string>> = {
  './redact.js': 'plugins/redaction/redact.js',
  './text.js': 'plugins/lib/text.js',
}
/** Spans are disposable, which not every consumer has in `lib`. */
const LIBRARIES = '/// <reference lib="esnext.disposable" />\n'

const entry = ({ name }: Format) => ({ types: `./${name}/index.d.ts`, default: `./${name}/index.js` })

const manifest = async (): Promise<object> => {
  const { version, license } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const [esm, cjs] = FORMATS.map(entry)
  return {
    name: 'guard-gateway-sdk',
    version,
    description: 'Traces of agents for Guard Gateway: spans, events and artifacts, without dependencies',
    keywords: ['llm', 'agents', 'tracing', 'observability', 'guard-gateway'],
    license,
    type: 'module',
    engines: { node: '>=22' },
    sideEffects: false,
    main: './cjs/index.js',
    module: './esm/index.js',
    types: './esm/index.d.ts',
    exports: { '.': { import: esm, require: cjs }, './package.json': './package.json' },
    files: FORMATS.map(({ name }) => name),
  }
}

/** Builds the package into an empty folder. */
const build = async (target: string): Promise<void> => {
  await rm(target, { recursive: true, force: true })
  await mkdir(target, { recursive: true })
  // inside of the repository, so that the compiler finds packages
  const work = await mkdtemp(join(root, 'node_modules/.sdk-'))
  try {
    for (const format of FORMATS) {
      const compiled = await compile(format, work)
      const folder = join(target, format.name)
      await copyReached(compiled, folder, 'plugins/replay/sdk/index.js')
      await copyReached(compiled, folder, 'plugins/replay/sdk/index.d.ts')
      await writeFile(join(folder, 'package.json'), `${JSON.stringify({ type: format.type })}\n`)
    }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  await writeFile(join(target, 'package.json'), `${JSON.stringify(await manifest(), undefined, 2)}\n`)
  await cp(join(root, 'LICENSE'), join(target, 'LICENSE'))
  // what it links to in the repository is not in the package
  const page = await readFile(join(root, 'plugins/replay/sdk/README.md'), 'utf8')
  await writeFile(join(target, 'README.md'), page.replaceAll(/\[([^\]]+)\]\(\.[^)]*\)/g, '$1'))
}

await build(resolve(process.argv[2] ?? join(root, 'dist-sdk')))
