import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..')

export interface PublicModule {
  readonly 'guard-source': string
  readonly types: string
  readonly default: string
}

export interface Manifest {
  /** Null: the name is not public. A text: a file that is no module. */
  readonly exports: Readonly<Record<string, PublicModule | string | null>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly engines: { readonly node: string }
}
export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest

/** The oldest Node that the package promises to run on, as bundlers name it: `node22.19`. */
export const oldestNode = manifest.engines.node.replace('>=', 'node')
