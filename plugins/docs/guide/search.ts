import MiniSearch from 'minisearch'
import type { Leaf } from './library.ts'

/** A part of a page in which something was found. */
export interface Found {
  readonly slug: string
  readonly page: string
  readonly anchor: string
  readonly title: string
  /** The text of that part. */
  readonly text: string
  /** Words of the text that match, as they stand in the index. */
  readonly words: readonly string[]
}

export type Search = (query: string, limit: number) => readonly Found[]

/** Who searches wants to do something, and seldom to change the gateway. */
const WEIGHTS: Readonly<Record<string, number>> = { Start: 2, 'How to': 3, Inside: 0.3 }

/** Further words of a query count for nothing: each is looked for in the whole index, while everything else waits. */
const MAX_WORDS = 12
const tokenize = MiniSearch.getDefault('tokenize') as (text: string) => readonly string[]

/** Indexes the sections of all pages by page title, heading and text. Every word has to be there, as it is, as a beginning, or with a letter wrong. */
export const indexOf = async (leaves: readonly Leaf[]): Promise<Search> => {
  const sections = leaves.flatMap(({ slug, group, title: page, sections: parts }) =>
    parts.map(({ id: anchor, title, text }) => ({ id: `${slug}#${anchor}`, slug, page, anchor, title, text, group })),
  )
  const byId = new Map(sections.map((section) => [section.id, section]))
  const index = new MiniSearch({
    fields: ['page', 'title', 'text'],
    searchOptions: {
      boost: { page: 2, title: 3 },
      boostDocument: (id) => WEIGHTS[byId.get(id)?.group ?? ''] ?? 1,
      combineWith: 'AND',
      // a letter begins a large part of all words
      prefix: (word) => word.length > 1,
      tokenize: (text) => [...new Set(tokenize(text.toLowerCase()))].slice(0, MAX_WORDS),
      fuzzy: (word) => (word.length > 4 ? 0.2 : false),
    },
  })
  // the gateway serves requests meanwhile
  await index.addAllAsync(sections, { chunkSize: 20 })
  return (query, limit) =>
    index
      .search(query)
      .slice(0, limit)
      .flatMap(({ id, terms }) => {
        const section = byId.get(id)
        return section === undefined ? [] : [{ ...section, words: terms }]
      })
}
