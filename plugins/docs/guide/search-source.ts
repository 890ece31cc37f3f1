import type { SearchSource } from 'guard-gateway/lib/page'
import { GUIDE, type Guide } from './guide.ts'

/** Pages whose headings are names. */
const NAMES: ReadonlySet<string> = new Set(['error-codes', 'commands'])

/** Finds pages of the guide by title, error codes and commands. */
export const guideSource = (guide: Guide): SearchSource => ({
  id: 'guide',
  order: 90,
  takes: 'titles of the guide, error codes and commands',
  find: async (text) => {
    const wanted = text.toLowerCase()
    return (await guide.leaves()).flatMap(({ slug, title: page, sections }) =>
      sections
        .filter(({ title, depth }) => title.toLowerCase() === wanted && (depth === 1 || NAMES.has(slug)))
        .map(({ id, title, depth }) => ({
          kind: 'guide',
          title,
          url: depth === 1 ? `${GUIDE}/${slug}` : `${GUIDE}/${slug}#${id}`,
          ...(depth === 1 ? {} : { note: page }),
        })),
    )
  },
  words: (text) =>
    /\p{L}{2}/u.test(text)
      ? { label: `Search the guide for “${text}”`, url: `${GUIDE}?q=${encodeURIComponent(text)}` }
      : undefined,
})
