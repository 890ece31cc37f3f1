import { GuardError } from 'guard-gateway/core'
import { elideProcessPart, shortId } from '#lib/ids'

/** An id in a list: for people at a terminal as much as tells it from others, elsewhere whole. */
export const listedId = (id: string, isTerminal: boolean): string => (isTerminal ? shortId(id) : id)

/** The id that is meant by what a list shows of it, or by how it begins; what is typed itself where nothing is known. Throws USAGE if several are meant. */
export const wholeId = async (typed: string, known: () => Promise<readonly string[]>): Promise<string> => {
  if (!isPart(typed)) return typed
  const ids = await known()
  if (ids.includes(typed)) return typed
  const meant = [...new Set(ids.filter((id) => isMeant(id, typed)))]
  if (meant.length <= 1) return meant[0] ?? typed
  throw new GuardError(
    'USAGE',
    `"${typed}" is the beginning of ${meant.length} ids: ${meant.slice(0, MAX_LISTED).join(', ')}${meant.length > MAX_LISTED ? ', …' : ''}. Type more of it.`,
  )
}

const MAX_LISTED = 4
/** The beginning of a trace id, or of an id that the gateway made. */
const BEGINNING = /^(?:[0-9a-f]{4,31}|[a-z]{2,5}_[0-9a-z]{4,25})$/

const isPart = (typed: string): boolean => typed.includes('…') || BEGINNING.test(typed)

const isMeant = (id: string, typed: string): boolean => {
  const [begin = '', end = ''] = typed.split('…')
  if (end === '') return id.startsWith(begin)
  return id.startsWith(begin) && elideProcessPart(id).replace(/…$/, '').endsWith(end)
}
