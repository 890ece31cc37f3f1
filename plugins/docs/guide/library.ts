import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Gateway } from 'guard-gateway/core'
import type { Html } from '#lib/html'
import type { GuidePage } from '#lib/page'
import { documents, headingId } from './documents.ts'
import { render, type Section } from './markdown.ts'

/** A page of the guide. */
export interface Leaf {
  readonly slug: string
  readonly group: string
  readonly title: string
  readonly main: Html
  readonly sections: readonly Section[]
}

/** The heading above pages that are made while the gateway runs. */
export const REFERENCE = 'Reference'

/** Reads and renders every page. `made`: those that are made while the gateway runs; `base`: what their addresses begin with. A document that the package lacks is left out, and so is a page that throws, which `fault` is told. */
export const readLibrary = async (
  made: readonly GuidePage[],
  base: string,
  fault: Gateway['fault'],
): Promise<readonly Leaf[]> => {
  const read = await Promise.all(
    documents.map(async ({ slug, file, group }) => {
      const text = await textOf(file)
      return text === undefined ? [] : [{ slug, group, file, text }]
    }),
  )
  const stored = read.flat()
  const slugs = new Map([
    ...stored.map(({ file, slug }) => [file, slug] as const),
    ...made.map(({ id }) => [id, id] as const),
  ])
  const leaves: Leaf[] = []
  const add = async (slug: string, group: string, text: string, file: string): Promise<void> => {
    leaves.push({ slug, group, ...render(text, (href) => addressIn({ slugs, base, file }, href)) })
    // the gateway serves requests meanwhile
    await setImmediate()
  }
  for (const { slug, group, file, text } of stored) await add(slug, group, text, file)
  for (const page of made) {
    try {
      await add(page.id, REFERENCE, `# ${page.title}\n\n${await page.text()}`, '')
    } catch (error) {
      fault(error, `guide:${page.id}`)
    }
  }
  return leaves
}

const textOf = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(new URL(file, import.meta.resolve('guard-gateway/package.json')), 'utf8')
  } catch {
    return undefined
  }
}

/** Other hosts, and pages of this gateway. */
const OUTSIDE = /^(?:https?:\/\/|\/(?!\/))/

/** Where a link stands. */
interface Place {
  /** Addresses of documents by file, of other pages by id. */
  readonly slugs: ReadonlyMap<string, string>
  readonly base: string
  readonly file: string
}

/** Address of what a document links to; undefined for files that are not served. */
const addressIn = ({ slugs, base, file }: Place, href: string): string | undefined => {
  if (OUTSIDE.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const fragment = anchor === undefined ? '' : `#${headingId(anchor)}`
  if (path === '') return fragment
  const slug = slugs.get(posix.join(posix.dirname(file), path))
  return slug === undefined ? undefined : `${base}/${slug}${fragment}`
}
