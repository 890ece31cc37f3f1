import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { dirname, join, posix, relative } from 'node:path'
import { promisify } from 'node:util'
import { bundleDeclarations } from './declarations/bundle.ts'
import { root } from './project.ts'

const run = promisify(execFile)

/** Writes the declarations of public names, with those of packages that they need; resolves to the files of these. Types are checked by `npm run check`. */
export const buildDeclarations = async (folder: string): Promise<readonly string[]> => {
  // inside of the repository, so that the compiler finds packages
  const work = await realpath(await mkdtemp(join(root, 'node_modules/.declarations-')))
  try {
    const options = ['--emitDeclarationOnly', '--noCheck', '--outDir', work]
    await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options], { cwd: root })
    const bundled = await bundleDeclarations(work, folder)
    return [...bundled, ...(await copyFastifyTypes(join(folder, 'types')))]
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

const modules = join(root, 'node_modules')

/** Tells the compilers of others. Nothing here is ignored. */
const IGNORE = ['@ts', 'ignore'].join('-')

/** Whoever has Fastify installed shares its types; others get the copy of them. */
const FASTIFY_SHIM = `import type * as copy from './packages/fastify/fastify'
// ${IGNORE}: the package need not be there
import type * as installed from 'fastify'
/** Of the Fastify that is installed, and of the gateway's own where none is. */
export type FastifyInstance = string extends keyof installed.FastifyInstance ? copy.FastifyInstance : installed.FastifyInstance
/** What \`inject\` takes. */
export type InjectOptions = string extends keyof installed.FastifyInstance ? copy.InjectOptions : installed.InjectOptions
`

/** Copies Fastify's declarations and those that they import. Resolves to the copied files. No bundler of declarations understands its `export =`. */
const copyFastifyTypes = async (folder: string): Promise<readonly string[]> => {
  const target = join(folder, 'packages')
  const reached = new Set([declarationOfPackage('fastify')])
  for (const file of reached) {
    const text = (await readFile(file, 'utf8')).replaceAll(COMMENT, '')
    const placed = join(target, relative(modules, file))
    await mkdir(dirname(placed), { recursive: true })
    const rewritten = text.replaceAll(IMPORT, (whole, before: string, name: string, after: string) => {
      if (isBuiltin(name)) return whole
      const found = name.startsWith('.') ? declarationAt(join(dirname(file), name)) : declarationOfPackage(name)
      reached.add(found)
      const path = posix.relative(dirname(file), found.replace(/(\/index)?\.d\.ts$/, '$1'))
      return `${before}${path.startsWith('.') ? path : `./${path}`}${after}`
    })
    await writeFile(placed, rewritten)
  }
  await writeFile(join(folder, 'fastify.d.cts'), FASTIFY_SHIM)
  await writeFile(join(target, 'package.json'), '{ "type": "commonjs" }\n')
  return [...reached]
}

const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/(?!\/).*$/gm
const IMPORT = /((?:\bfrom|^import|\bimport\(|\brequire\()\s*['"])([^'"]+)(['"])/gm

const declarationOfPackage = (name: string): string => {
  const folder = join(modules, name)
  if (!existsSync(join(folder, 'package.json'))) return declarationAt(folder)
  return declarationAt(join(folder, typesOf(folder)))
}

const typesOf = (folder: string): string => {
  const { types, typings } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, string>
  return types ?? typings ?? 'index.d.ts'
}

const declarationAt = (path: string): string => {
  const bare = path.replace(/\.js$/, '')
  const found = [path, `${bare}.d.ts`, join(path, 'index.d.ts')].find(
    (file) => file.endsWith('.d.ts') && existsSync(file) && statSync(file).isFile(),
  )
  if (found === undefined) throw new Error(`There is no declaration at ${path}.`)
  return found
}
