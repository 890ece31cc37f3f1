import type { Gateway } from 'guard-gateway/core'
import { guidePageKind } from '#lib/page'
import type { Leaf } from './library.ts'
import type { Found, Search } from './search.ts'

/** Address of the list of all pages. */
export const GUIDE = '/docs/guide'

/** The pages of the guide and their index, read when first asked for. */
export class Guide {
  readonly #gateway: Gateway
  #leaves: Promise<readonly Leaf[]> | undefined
  #search: Promise<Search> | undefined

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  leaves(): Promise<readonly Leaf[]> {
    this.#leaves ??= this.#read()
    return this.#leaves
  }

  async search(query: string, limit: number): Promise<readonly Found[]> {
    this.#search ??= this.#index()
    return (await this.#search)(query, limit)
  }

  async #read(): Promise<readonly Leaf[]> {
    const { readLibrary } = await import('./reading.ts')
    return readLibrary([...this.#gateway.registry(guidePageKind)], GUIDE, this.#gateway.fault)
  }

  async #index(): Promise<Search> {
    const { indexOf } = await import('./reading.ts')
    return indexOf(await this.leaves())
  }
}
