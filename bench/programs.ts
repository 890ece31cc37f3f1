import { extname, join } from 'node:path'

/** `.ts` in the sources, `.js` in the package. */
const code = extname(import.meta.filename)

/** File of a program, from its path relative to the project root, without extension. */
export const programFile = (name: string): string => join(import.meta.dirname, '..', `${name}${code}`)

/** Node flags for programs of the project. Node strips no types below node_modules, where compiled programs are used. */
export const programFlags: readonly string[] = code === '.ts' ? ['--conditions=guard-source'] : []

/** A compile cache, so that types are stripped once. The stripper takes 18 MB, which would count as measured memory. */
export const programEnv: NodeJS.ProcessEnv =
  code === '.ts' ? { NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/guard-bench') } : {}

/** The command line of the gateway. */
export const guardProgram = join(import.meta.dirname, '../presets/default/bin.js')
