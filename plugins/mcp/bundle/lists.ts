import {
  applyEdits,
  isJsonObject,
  isScanFault,
  type JsonValue,
  jsonIn,
  memberIn,
  removalsFrom,
  removeMembers,
  scanJson,
  setMember,
  sourceOf,
  stringIn,
} from '#lib/json'

import { errorFrame, type Frame, resultFrame } from '#lib/json-rpc'
import { type ClientResponse, errorResponse, resultResponse } from '../relay/response.ts'
import type { Bundle } from './bundle.ts'
import { type Kind, type ListKind, listChanged, listKinds } from './kinds.ts'
import { errorText, type Member } from './member.ts'
import { edited, frameOf, withRequestId } from './messages.ts'
import type { Routing } from './routing.ts'
import { together, within } from './within.ts'

const INTERNAL = -32603
const INVALID_PARAMS = -32602
const NO_METHOD = -32601
/** A list that has more pages than this is not followed. */
const MAX_PAGES = 1_000
/** How many pages the bundle reads by itself to learn whose a name is. */
const MAX_PAGES_READ = 100

/** A page that a server did not give. */
interface NoPage {
  readonly reason: string
  /** The error it gave instead. */
  readonly error?: Frame
}

interface Came {
  readonly member: Member
  readonly page: ListPage | NoPage
}

const isPage = (page: ListPage | NoPage): page is ListPage => 'entries' in page

/** Lists of all members as one, page by page: each page asks each member that has more for one page of its own. */
export class BundleLists {
  readonly #bundle: Bundle
  readonly #members: readonly Member[]
  readonly #routing: () => Routing
  readonly #host: { say(text: string): void; emit(message: string): void }

  constructor(
    bundle: Bundle,
    members: readonly Member[],
    routing: () => Routing,
    host: { say(text: string): void; emit(message: string): void },
  ) {
    this.#bundle = bundle
    this.#members = members
    this.#routing = routing
    this.#host = host
  }

  /** Answers a request of the client. */
  async answer(kind: ListKind, frame: Frame): Promise<ClientResponse> {
    const { id = '', text, params } = frame
    const cursorValue = memberIn(params, 'cursor')?.value
    const source = cursorValue === undefined ? undefined : sourceOf(text, cursorValue)
    const cursor = source === undefined ? undefined : readCursor(kind.kind, source.replace(/^"|"$/g, ''))
    if (source !== undefined && cursor === undefined)
      return errorResponse(
        200,
        id,
        INVALID_PARAMS,
        `This cursor is none of ${kind.method} of the bundle "${this.#bundle.id}".`,
      )
    const requested = this.#members.filter((member) =>
      cursor === undefined ? this.#mayHave(member, kind) : Object.hasOwn(cursor.servers, member.id),
    )
    if (cursor === undefined && requested.length === 0 && this.#members.every(({ missing }) => missing === undefined))
      return errorResponse(200, id, NO_METHOD, `No server of the bundle "${this.#bundle.id}" has ${kind.capability}.`)
    const came = await this.#pages(requested, kind, new Map(Object.entries(cursor?.servers ?? {})), frame)
    const [first] = came
    if (first !== undefined && came.every(({ page }) => !isPage(page))) return failed(id, first.page as NoPage)
    if (cursor === undefined) this.#bundle.forget(kind.kind)
    const named = came.flatMap(({ member, page }) => (isPage(page) ? [this.#named(member, kind.kind, page)] : []))
    const more = this.#next(kind.kind, came, (cursor?.pages ?? 0) + 1)
    this.#tellCollisions(kind.kind, named, cursor !== undefined)
    return resultResponse(resultFrame(id, mergedPages(kind, named, more)))
  }

  /** The cursor of the page after these; undefined: there is none. What a server did not give is told. */
  #next(kind: Kind, came: readonly Came[], pages: number): string | undefined {
    const servers: Record<string, string> = {}
    for (const { member, page } of came) {
      const left = `The MCP server "${member.id}" lists its ${kind} on more than ${MAX_PAGES} pages; the rest is left out.`
      if (!isPage(page)) this.#host.say(`The MCP server "${member.id}" gave no list of its ${kind}: ${page.reason}`)
      else if (page.next !== undefined && pages >= MAX_PAGES) this.#host.say(left)
      else if (page.next !== undefined) servers[member.id] = page.next
    }
    return Object.keys(servers).length === 0 ? undefined : cursorText({ kind, pages, servers })
  }

  /** Reads whole lists of members, to learn whose names they are. */
  async read(kind: Kind, members: readonly Member[]): Promise<void> {
    const { method, capability } = listKinds[kind]
    await Promise.all(
      members.map(async (member) => {
        if ((await within(member.ready(), this.#bundle.wait_ms)) === undefined || !member.has(capability)) return
        const frame = frameOf(`{"jsonrpc":"2.0","id":0,"method":${JSON.stringify(method)},"params":{}}`)
        let cursor: string | undefined
        for (let pages = 0; pages < MAX_PAGES_READ; pages++) {
          const page = await within(this.#page(member, listKinds[kind], cursor, frame), this.#bundle.wait_ms)
          if (page !== undefined) member.pages.delete(keyOf(listKinds[kind], cursor))
          if (page === undefined || !isPage(page) || page.next === undefined) return
          cursor = page.next
        }
      }),
    )
  }

  /** One that is not there may be back; one that is still opening will say that its lists are others. */
  #mayHave(member: Member, { capability }: ListKind): boolean {
    if (member.isOpening) return false
    return member.facts === undefined || member.has(capability)
  }

  #named(member: Member, kind: Kind, page: ListPage): NamedPage & { readonly member: Member } {
    const routing = this.#routing()
    return {
      member,
      page,
      nameOf: (own) => {
        const name = nameIn(member, kind, own)
        return name === undefined || routing.collision(kind, name) !== undefined ? undefined : name
      },
    }
  }

  #tellCollisions(
    kind: Kind,
    pages: readonly { readonly member: Member; readonly page: ListPage }[],
    later: boolean,
  ): void {
    const routing = this.#routing()
    let isNew = false
    for (const { member, page } of pages)
      for (const { own } of page.entries) {
        const name = nameIn(member, kind, own)
        const collision = name === undefined ? undefined : routing.collision(kind, name)
        if (collision === undefined || !this.#bundle.collided(collision)) continue
        isNew = true
        this.#host.say(this.#bundle.collisionText(collision))
      }
    // an earlier page may have had one of them
    if (isNew && later) this.#host.emit(listChanged(listKinds[kind].capability))
  }

  /** One page of each of these members. One that is late is not waited for; its page is part of the next list. */
  async #pages(
    members: readonly Member[],
    kind: ListKind,
    cursors: ReadonlyMap<string, string>,
    frame: Frame,
  ): Promise<readonly Came[]> {
    const requested = members.map((member) => this.#page(member, kind, cursors.get(member.id), frame))
    const pages = await together(requested, isPage, this.#bundle.wait_ms)
    return members.map((member, index) => {
      const key = keyOf(kind, cursors.get(member.id))
      const page = pages[index]
      if (page === undefined) void requested[index]?.then((late) => this.#late(member, kind, key, late))
      else member.pages.delete(key)
      return { member, page: page ?? { reason: `it has not answered for ${this.#bundle.wait_ms / 1000} s` } }
    })
  }

  #late(member: Member, { capability }: ListKind, key: string, page: ListPage | NoPage): void {
    if (isPage(page)) this.#host.emit(listChanged(capability))
    else member.pages.delete(key)
  }

  /** A page that is asked for already is not asked for again. */
  #page(member: Member, kind: ListKind, cursor: string | undefined, frame: Frame): Promise<ListPage | NoPage> {
    const key = keyOf(kind, cursor)
    const requested =
      (member.pages.get(key) as Promise<ListPage | NoPage> | undefined) ?? this.#ask(member, kind, cursor, frame)
    member.pages.set(key, requested)
    return requested
  }

  async #ask(member: Member, kind: ListKind, cursor: string | undefined, frame: Frame): Promise<ListPage | NoPage> {
    const response = await member.ask((id) => pageRequest(frame, id, cursor))
    if (response?.result === undefined)
      return response === undefined
        ? { reason: member.missing ?? 'it gave no answer' }
        : { reason: errorText(response), error: response }
    const page = readPage(kind, sourceOf(response.text, response.result))
    if (page === undefined) return { reason: 'what it sent is no list, or ambiguous' }
    const names = member.listed[kind.kind]
    if (cursor === undefined) names.begin()
    for (const { own } of page.entries) {
      const name = nameIn(member, kind.kind, own)
      if (name !== undefined && !names.add(name, own)) return { reason: 'it lists too many' }
    }
    if (page.next === undefined) names.end()
    return page
  }
}

const keyOf = ({ kind }: ListKind, cursor = ''): string => `${kind}\0${cursor}`

/** What the bundle calls an entry; addresses stay as they are. */
const nameIn = ({ naming }: Member, kind: Kind, own: string): string | undefined =>
  listKinds[kind].key === 'name' ? naming.nameOf(own) : own

/** The client's request as one member gets it. */
const pageRequest = (frame: Frame, id: string, cursor: string | undefined): Frame => {
  const { params } = frame
  if (cursor === undefined) return withRequestId(frame, id)
  if (params === undefined)
    return frameOf(
      `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(frame.method)},"params":{"cursor":${JSON.stringify(cursor)}}}`,
    )
  return withRequestId(frame, id, setMember(params, 'cursor', JSON.stringify(cursor)))
}

const failed = (id: string, { reason, error }: NoPage): ClientResponse => {
  if (error === undefined) return resultError(id, reason)
  return { form: 'json', status: 200, message: edited(error, [setMember(error.root, 'id', id)]).text }
}

const resultError = (id: string, reason: string): ClientResponse => ({
  form: 'json',
  status: 200,
  message: errorFrame(id, INTERNAL, `No server of the bundle gave its list: ${reason}.`),
})

/** Where a client is in the lists of several servers: for each that has more, the server's own cursor. */
interface PageCursor {
  readonly kind: Kind
  /** How many pages came before. */
  readonly pages: number
  readonly servers: Readonly<Record<string, string>>
}

/** The cursor as clients get it. */
const cursorText = ({ kind, pages, servers }: PageCursor): string =>
  Buffer.from(JSON.stringify([kind, pages, servers])).toString('base64url')

/** What a cursor says; undefined for one that is none of this list. */
const readCursor = (kind: Kind, text: string): PageCursor | undefined => {
  const read = jsonIn(Buffer.from(text, 'base64url').toString())
  if (!Array.isArray(read)) return undefined
  const [of, pages, servers] = read as readonly unknown[]
  if (of !== kind || !Number.isSafeInteger(pages) || Number(pages) < 1 || !isJsonObject(servers)) return undefined
  const entries = Object.entries(servers)
  if (entries.length === 0 || !entries.every(([, cursor]) => typeof cursor === 'string')) return undefined
  return { kind, pages: Number(pages), servers: servers as Readonly<Record<string, string>> }
}

/** An entry of a list, and its server's own name for it. */
interface Entry {
  readonly value: JsonValue
  readonly name: JsonValue
  readonly own: string
}

/** One page of one server's list. */
interface ListPage {
  readonly text: string
  readonly root: JsonValue
  readonly list: JsonValue
  /** Entries without a name are not among them. */
  readonly entries: readonly Entry[]
  readonly next: string | undefined
}

/** Reads the result of a list; undefined if it is none, or if two parsers could read it differently. */
const readPage = ({ kind, key }: ListKind, text: string): ListPage | undefined => {
  const scan = scanJson(text)
  if (isScanFault(scan) || scan.duplicate !== undefined) return undefined
  const list = memberIn(scan.root, kind)?.value
  if (list?.items === undefined) return undefined
  const entries = list.items.flatMap((value) => {
    const name = memberIn(value, key)?.value
    const own = stringIn(text, name)
    return name === undefined || own === undefined ? [] : [{ value, name, own }]
  })
  return { text, root: scan.root, list, entries, next: stringIn(text, memberIn(scan.root, 'nextCursor')?.value) }
}

/** A page, and by what name the bundle has an entry; undefined: it does not have it. */
interface NamedPage {
  readonly page: ListPage
  nameOf(own: string): string | undefined
}

/** Pages of several servers as one result. Of a single page every other character stays; of several, only their entries are taken. */
const mergedPages = (kind: ListKind, pages: readonly NamedPage[], cursor: string | undefined): string => {
  const [only] = pages
  if (only !== undefined && pages.length === 1) return single(only, cursor)
  const entries = pages.flatMap((page) => entriesOf(page)).join(',')
  return `{${JSON.stringify(kind.kind)}:[${entries}]${cursor === undefined ? '' : `,"nextCursor":${JSON.stringify(cursor)}`}}`
}

const single = ({ page: { text, root, list, entries }, nameOf }: NamedPage, cursor: string | undefined): string => {
  const names = new Map(entries.map((entry) => [entry.value, nameOf(entry.own)]))
  const items = list.items ?? []
  const edits = removalsFrom(list, (index) => {
    const item = items[index]
    return item === undefined || names.get(item) === undefined
  })
  for (const { value, name, own } of entries) {
    const publicName = names.get(value)
    if (publicName !== undefined && publicName !== own)
      edits.push({ start: name.start, end: name.end, text: JSON.stringify(publicName) })
  }
  edits.push(
    ...(cursor === undefined
      ? removeMembers(root, ['nextCursor'])
      : [setMember(root, 'nextCursor', JSON.stringify(cursor))]),
  )
  return applyEdits(text, edits)
}

const entriesOf = ({ page: { text, entries }, nameOf }: NamedPage): readonly string[] =>
  entries.flatMap(({ value, name, own }) => {
    const publicName = nameOf(own)
    if (publicName === undefined) return []
    if (publicName === own) return [sourceOf(text, value)]
    return [text.slice(value.start, name.start) + JSON.stringify(publicName) + text.slice(name.end, value.end)]
  })
