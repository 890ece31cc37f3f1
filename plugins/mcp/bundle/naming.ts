import { anyGlob } from '#lib/glob'
import { sha256 } from '#lib/ids'
import type { BundleMemberOptions, BundleOptions } from '../options.ts'

/** Model APIs take 64 characters, and clients put theirs before them: `mcp__guard__` has 12. */
const MAX_NAME = 52
const HASH_DIGITS = 6
const SEPARATOR = '_'
const UNUSABLE = /[^a-zA-Z0-9_-]/g

/** How a bundle calls what one of its servers calls otherwise. */
export class Naming {
  readonly prefix: string
  readonly #rename: ReadonlyMap<string, string>
  readonly #own: ReadonlyMap<string, string>
  readonly #isHidden: (own: string) => boolean

  constructor(server_id: string, names: BundleOptions['names'], options: BundleMemberOptions) {
    const { prefix, rename = {}, hide = [] } = options
    this.prefix = prefix ?? (names === 'as_is' ? '' : `${usable(server_id)}${SEPARATOR}`)
    this.#rename = new Map(Object.entries(rename))
    this.#own = new Map(Object.entries(rename).map(([own, name]) => [name, own]))
    this.#isHidden = anyGlob(hide)
  }

  /** The name in the bundle; undefined: the bundle does not have it. */
  nameOf(own: string): string | undefined {
    if (this.#isHidden(own)) return undefined
    return this.#rename.get(own) ?? (this.prefix === '' ? own : shortened(usable(`${this.prefix}${own}`)))
  }

  /** The server's own name that a name of the bundle would stand for, whether the server has it or not. */
  ownOf(name: string): string | undefined {
    const own = this.#own.get(name) ?? (name.startsWith(this.prefix) ? name.slice(this.prefix.length) : undefined)
    return own !== undefined && own !== '' && this.nameOf(own) === name ? own : undefined
  }
}

/** Names as model APIs take them; clients do the same to those that are not. */
const usable = (name: string): string => name.replace(UNUSABLE, '_')

/** A name that is too long is told apart from others that begin like it by digits of its hash. */
const shortened = (name: string): string =>
  name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME - HASH_DIGITS - 1)}_${sha256(name).slice(0, HASH_DIGITS)}`
