import type { Bundle, Collision } from './bundle.ts'
import { type Kind, listKinds } from './kinds.ts'
import type { Member } from './member.ts'

/** Which server a name of the bundle belongs to, and what the server calls it. */
export interface Route {
  readonly member: Member
  readonly own: string
}

/** Why nothing can be sent anywhere. */
export interface NoRoute {
  readonly code: number
  readonly reason: string
}

const INVALID_PARAMS = -32602
const NOT_FOUND = -32002

/** Finds servers by names, and by addresses of resources. */
export class Routing {
  readonly #bundle: Bundle
  readonly #members: readonly Member[]
  readonly #list: (kind: Kind, members: readonly Member[]) => Promise<void>

  /** `list`: reads whole lists of these members. */
  constructor(
    bundle: Bundle,
    members: readonly Member[],
    list: (kind: Kind, members: readonly Member[]) => Promise<void>,
  ) {
    this.#bundle = bundle
    this.#members = members
    this.#list = list
  }

  /** All that have listed this name; a server that is not there now keeps what it has listed. */
  owners(kind: Kind, name: string): readonly Route[] {
    const routes: Route[] = []
    for (const member of this.#members) for (const own of member.listed[kind].ownOf(name)) routes.push({ member, own })
    return routes
  }

  /** The collision of a name; undefined: it has none. */
  collision(kind: Kind, name: string): Collision | undefined {
    const owners = this.owners(kind, name)
    return owners.length < 2 ? undefined : { kind, name, servers: owners.map(({ member }) => member.id) }
  }

  /** The server of a tool or a prompt. What nobody has listed goes to the only one whose names are like it, which answers for it. */
  async named(kind: 'tools' | 'prompts', name: string): Promise<Route | NoRoute> {
    const listed = this.#only(kind, this.owners(kind, name))
    if (listed !== undefined) return listed
    const { word, capability } = listKinds[kind]
    const candidates = this.#members.flatMap((member) => {
      const own = member.naming.ownOf(name)
      const mayHave = member.facts === undefined || member.has(capability)
      return own === undefined || !mayHave ? [] : [{ member, own }]
    })
    const unread = this.#members.filter(
      (member) => !member.listed[kind].isComplete && name.startsWith(member.naming.prefix),
    )
    const unlisted = new Set([
      ...unread,
      ...candidates.map(({ member }) => member).filter((one) => !one.listed[kind].isComplete),
    ])
    if (unlisted.size > 0) await this.#list(kind, [...unlisted])
    const found = this.#only(kind, this.owners(kind, name))
    if (found !== undefined) return found
    const [only, ...more] = candidates
    if (only !== undefined && more.length === 0) return only
    return { code: INVALID_PARAMS, reason: `Unknown ${word}: ${JSON.stringify(name.slice(0, 128))}.` }
  }

  /** The server of a resource: who has listed its address, or a template that it fits, or the only one that has any. */
  async resource(uri: string): Promise<Route | NoRoute> {
    const known =
      this.#only('resources', this.owners('resources', uri)) ??
      this.#only('resourceTemplates', this.owners('resourceTemplates', uri))
    if (known !== undefined) return known
    const having = this.#members.filter((member) => member.facts === undefined || member.has('resources'))
    for (const kind of ['resources', 'resourceTemplates'] as const) {
      const unread = having.filter((member) => !member.listed[kind].isComplete)
      if (unread.length > 0) await this.#list(kind, unread)
    }
    const listed =
      this.#only('resources', this.owners('resources', uri)) ?? this.#only('resourceTemplates', this.#fitting(uri))
    if (listed !== undefined) return listed
    const [only, ...more] = having
    if (only !== undefined && more.length === 0) return { member: only, own: uri }
    return {
      code: NOT_FOUND,
      reason: `No server of the bundle "${this.#bundle.id}" has listed this resource or a template of it, so that it is not known which to ask.`,
    }
  }

  /** Servers with a template that an address fits, each once. */
  #fitting(uri: string): readonly Route[] {
    return this.#members.flatMap((member) => {
      for (const template of member.listed.resourceTemplates.names())
        if (fitsTemplate(template, uri)) return [{ member, own: uri }]
      return []
    })
  }

  #only(kind: Kind, routes: readonly Route[]): Route | NoRoute | undefined {
    const [only, ...more] = routes
    if (only === undefined || more.length === 0) return only
    const servers = routes.map(({ member }) => member.id)
    return { code: INVALID_PARAMS, reason: this.#bundle.collisionText({ kind, name: routes[0]?.own ?? '', servers }) }
  }
}

export const isRoute = (found: Route | NoRoute): found is Route => 'member' in found

/** A hole of a template, and the fixed part behind it. */
interface Piece {
  readonly mayHoldSlash: boolean
  readonly fixed: string
}

/** Whether an address may come of a template of RFC 6570: its fixed parts stand there in order, and only `{+…}`, `{#…}` and `{/…}` hold slashes. Linear in the address. */
export const fitsTemplate = (template: string, uri: string): boolean => {
  const [first = '', ...rest] = template.split(/(\{[^{}]*\})/)
  const pieces: Piece[] = []
  for (let at = 0; at < rest.length; at += 2)
    pieces.push({ mayHoldSlash: /^\{[+#/]/.test(rest[at] ?? ''), fixed: rest[at + 1] ?? '' })
  if (!uri.startsWith(first)) return false
  let from = first.length
  for (const [index, piece] of pieces.entries()) {
    const to = endOfHole(uri, from, piece.fixed, index === pieces.length - 1)
    if (to === -1 || (!piece.mayHoldSlash && uri.slice(from, to).includes('/'))) return false
    from = to + piece.fixed.length
  }
  return from === uri.length
}

/** Where the value of a hole ends; -1: what follows it is not there. The last one takes all that is left. */
const endOfHole = (uri: string, from: number, fixed: string, isLast: boolean): number => {
  if (!isLast) return uri.indexOf(fixed, from)
  const end = uri.length - fixed.length
  return end >= from && uri.endsWith(fixed) ? end : -1
}
