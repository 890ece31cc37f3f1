import type { Chain, Conversation, Row } from 'guard-gateway/core'
import type { KnownRequests } from './provider-stored.ts'

/** What a look at every row tells; positions are among the items of this request. */
export interface Search {
  /** Newest row with this request's beginning, by `chain` and by `talk`. */
  chained: Row | undefined
  talked: Row | undefined
  /** Extends a forwarded row. */
  continues: boolean
  /** Up to here a forwarded row held this history. */
  held: number
  /** Ends of the blocked rows that this request extends. */
  refused: readonly number[]
  /** Extends every row. */
  all: boolean
}

/** Looks for the beginnings of a request among the rows of its session, newest first; those of another subagent are passed over. */
export const search = (
  conversation: Conversation,
  { rows, linear }: Pick<KnownRequests, 'rows' | 'linear'>,
  suffix: string,
): Search => {
  const found: Search = { chained: undefined, talked: undefined, continues: false, held: 0, refused: NONE, all: false }
  const [newest] = rows
  if (linear === true && newest !== undefined && extendsRow(conversation, newest, suffix)) {
    found.all = true
    note(found, conversation, newest, true)
  } else searchAll(found, conversation, rows, suffix)
  return found
}

const searchAll = (found: Search, conversation: Conversation, rows: readonly Row[], suffix: string): void => {
  const { chain, talk } = conversation
  for (const row of rows) {
    const talked = hasTip(talk, row.talk_items, row.talk_tip)
    // what starts alike with its system items starts alike without them
    const chained = (talked || row.talk_items === 0) && hasTip(chain, row.items, row.chain_tip)
    if ((talked || chained) && isSubagent(row.thread, suffix)) note(found, conversation, row, chained)
  }
}

/** More items than the row, the same ones before them. */
const extendsRow = ({ chain }: Conversation, row: Row, suffix: string): boolean =>
  chain.length > row.items && hasTip(chain, row.items, row.chain_tip) && isSubagent(row.thread, suffix)

const note = (found: Search, conversation: Conversation, row: Row, chained: boolean): void => {
  if (chained) found.chained ??= row
  else found.talked ??= row
  const longer = chained ? conversation.chain.length > row.items : conversation.talk.length > row.talk_items
  const end = chained ? row.items : endOfTalk(conversation, row.talk_items)
  if (row.decision === 'block') {
    if (longer) found.refused = [...found.refused, end]
    return
  }
  if (longer) found.continues = true
  if ((longer || !row.root) && end > found.held) found.held = end
}

const hasTip = (chain: Chain, items: number, tip: string): boolean => chain.tipOf(items) === tip

/** More items than the row, counted in the way in which the two are alike. */
export const isLonger = ({ chain, talk }: Conversation, row: Row): boolean =>
  hasTip(chain, row.items, row.chain_tip) ? chain.length > row.items : talk.length > row.talk_items

/** Where in this request the row's history ends. */
export const historyEnd = (conversation: Conversation, row: Row): number =>
  hasTip(conversation.chain, row.items, row.chain_tip) ? row.items : endOfTalk(conversation, row.talk_items)

/** How many items the first so many of the talk take, the system items among them included. */
export const endOfTalk = ({ systems }: Conversation, talk_items: number): number => {
  let end = talk_items
  for (const position of systems) if (position < end) end++
  return end
}

/** A thread of the subagent that the suffix names; of none, if it is empty. */
export const isSubagent = (thread: string, suffix: string): boolean =>
  suffix === '' ? !thread.includes('~') : thread.endsWith(suffix)

const NONE: readonly number[] = Object.freeze([])
