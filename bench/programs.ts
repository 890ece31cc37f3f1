import { extname, join } from 'node:path'

/** `.ts` in the sources, `.js` in the package. */
const code = extname(import.meta.filename)

/** The file of a program, given from the project's root and without its extension. */
export const programFile = (name: string): string => join(import.meta.dirname, '..', `${name}${code}`)

/** What Node must be told to run the project's programs: below node_modules it strips no types, and there the compiled ones stand. */
export const programFlags: readonly string[] = code === '.ts' ? ['--conditions=guard-source'] : []

/** What is said to them besides: types are stripped once and not in each run, since what strips them takes 18 MB of the memory that is measured. */
export const programEnv: NodeJS.ProcessEnv =
  code === '.ts' ? { NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/guard-bench') } : {}

/** The command line of the gateway. */
export const guardProgram = join(import.meta.dirname, '../presets/default/bin.js')
