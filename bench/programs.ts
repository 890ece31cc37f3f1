import { existsSync } from 'node:fs'
import { extname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startFlags } from '../presets/default/restart.js'

/** `.ts` in the sources, `.js` in the package. */
const code = extname(import.meta.filename)

/** File of a program, from its path relative to the project root, without extension. */
export const programFile = (name: string): string => join(import.meta.dirname, '..', `${name}${code}`)

const FROM_SOURCES = '--conditions=guard-source'

/** Node flags for programs of the project. Node strips no types below node_modules, where compiled programs are used. */
export const programFlags: readonly string[] = code === '.ts' ? [FROM_SOURCES] : []

/** A compile cache, so that types are stripped once. The stripper takes 18 MB, which would count as measured memory. */
export const programEnv: NodeJS.ProcessEnv =
  code === '.ts' ? { NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/guard-bench') } : {}

/** The command line of the gateway. */
export const guardProgram = join(import.meta.dirname, '../presets/default/bin.js')

/** A command line of the gateway, and the Node that runs it. */
export interface GatewayProgram {
  readonly file: string
  readonly node: string
  /** Those that every start needs. */
  readonly flags: readonly string[]
  /** Those that it starts itself anew with, unless it has a channel to its starter. */
  readonly startFlags: readonly string[]
}

export const ownGateway: GatewayProgram = {
  file: guardProgram,
  node: process.execPath,
  flags: programFlags,
  startFlags: startFlags(0),
}

/** The gateway of another checkout, from its sources. Throws a TypeError if it cannot be started. */
export const gatewayOf = async (checkout: string): Promise<GatewayProgram> => {
  const inside = (path: string): string => join(resolve(checkout), path)
  const [file, node, restart] = [
    inside('presets/default/bin.js'),
    inside('node_modules/.bin/node'),
    inside('presets/default/restart.js'),
  ]
  if (!existsSync(file))
    throw new TypeError(
      `There are no sources of the gateway in ${checkout}: ${file} is missing. Make a checkout with "git worktree add ${checkout} <commit>".`,
    )
  if (!existsSync(node))
    throw new TypeError(`The checkout ${checkout} has no packages: ${node} is missing. Run "npm ci" there.`)
  const { startFlags: theirs } = existsSync(restart)
    ? ((await import(pathToFileURL(restart).href)) as { startFlags?: typeof startFlags })
    : {}
  return { file, node, flags: [FROM_SOURCES], startFlags: theirs?.(0) ?? [] }
}
