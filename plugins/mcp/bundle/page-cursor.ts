import { isJsonObject } from 'guard-gateway/lib/json'
import type { Kind } from './kinds.ts'

/** Where a client is in the lists of several servers: for each that has more, the server's own cursor. */
export interface PageCursor {
  readonly kind: Kind
  /** How many pages came before. */
  readonly pages: number
  readonly servers: Readonly<Record<string, string>>
}

/** The cursor as clients get it. */
export const cursorText = ({ kind, pages, servers }: PageCursor): string =>
  Buffer.from(JSON.stringify([kind, pages, servers])).toString('base64url')

/** What a cursor says; undefined for one that is none of this list. */
export const readCursor = (kind: Kind, text: string): PageCursor | undefined => {
  const read = readMaybe(Buffer.from(text, 'base64url').toString())
  if (!Array.isArray(read)) return undefined
  const [of, pages, servers] = read as readonly unknown[]
  if (of !== kind || !Number.isSafeInteger(pages) || Number(pages) < 1 || !isJsonObject(servers)) return undefined
  const entries = Object.entries(servers)
  if (entries.length === 0 || !entries.every(([, cursor]) => typeof cursor === 'string')) return undefined
  return { kind, pages: Number(pages), servers: servers as Readonly<Record<string, string>> }
}

const readMaybe = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
