import { GuardError } from 'guard-gateway/core'
import { isJsonObject, memberIn, sourceOf, stringIn } from '#lib/json'
import type { Frame } from '#lib/json-rpc'
import type { PassedHeaders } from '#lib/mcp-transport'
import type { OutgoingMessage } from '../relay/response.ts'
import type { McpServerState } from '../servers/server-state.ts'
import type { RunningSession } from '../session/running-session.ts'
import type { SessionInfo } from '../session/session.ts'
import type { BundleContext } from './bundle.ts'
import type { Kind } from './kinds.ts'
import { edited, frameOf, responseIn } from './messages.ts'
import type { Naming } from './naming.ts'

const FIRST_RETRY_MS = 1_000
const LAST_RETRY_MS = 60_000
/** Ends of a session that the server has no part in. */
const RESTS: ReadonlySet<string> = new Set(['idle', 'too many sessions'])

/** What a server said of itself. */
export interface MemberFacts {
  readonly version: string
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly instructions: string | undefined
}

/** Who is told of a member. */
export interface MemberHost {
  readonly about: SessionInfo
  readonly ended: boolean
  /** The version that all members speak, once it is known. */
  readonly version: string | undefined
  /** A message that belongs to no stream of the client. */
  onMessage(member: Member, out: OutgoingMessage): void
  /** The member has a session; the client may have sent earlier what it must know. */
  opened(member: Member): void
  /** It had a session, and has none now. */
  lost(member: Member): void
}

/** One server of a bundle in the session of one client: the session of the proxy behind it, which comes and goes. */
export class Member {
  readonly state: McpServerState
  readonly naming: Naming
  readonly listed: Readonly<Record<Kind, ListedNames>> = {
    tools: new ListedNames(),
    prompts: new ListedNames(),
    resources: new ListedNames(),
    resourceTemplates: new ListedNames(),
  }
  /** Pages that were asked for; one that comes too late for a list is part of the next. */
  readonly pages = new Map<string, Promise<unknown>>()
  facts: MemberFacts | undefined
  running: RunningSession | undefined
  /** Why it is not there; undefined while it is, and while it rests. */
  missing: string | undefined
  readonly #context: BundleContext
  readonly #host: MemberHost
  #initialize: Frame | undefined
  #opening: Promise<void> | undefined
  #requestCount = 0
  #failures = 0
  #retryAt = 0

  constructor(context: BundleContext, host: MemberHost, state: McpServerState, naming: Naming) {
    this.#context = context
    this.#host = host
    this.state = state
    this.naming = naming
  }

  get id(): string {
    return this.state.server.id
  }

  /** Its session as it is; undefined: there is none now. */
  get there(): RunningSession | undefined {
    return this.running?.session.ended === false ? this.running : undefined
  }

  get isOpening(): boolean {
    return this.#opening !== undefined
  }

  has(capability: string): boolean {
    return this.facts?.capabilities[capability] !== undefined
  }

  /** Opens its session by the client's `initialize`. Never rejects. */
  open(initialize: Frame, passed: PassedHeaders = {}): Promise<void> {
    this.#initialize = initialize
    this.#opening ??= this.#open(initialize, passed)
      .catch((error: unknown) => {
        if (!(error instanceof GuardError)) this.#context.gateway.fault(error, 'mcp:bundle')
        this.#fail(error instanceof GuardError ? error.message : 'The gateway failed on it.')
      })
      .finally(() => {
        this.#opening = undefined
      })
    return this.#opening
  }

  /** Its sessions are opened at this version from now on, as those of all members. */
  async openAt(version: string): Promise<void> {
    const initialize = this.#initialize
    const spoken = memberIn(initialize?.params, 'protocolVersion')?.value
    if (initialize === undefined || spoken === undefined) return
    const { start, end } = spoken
    this.#initialize = edited(initialize, [{ start, end, text: JSON.stringify(version) }])
    if (this.facts === undefined || this.facts.version === version) return
    this.end('others of the bundle speak an older version')
    this.facts = undefined
    await this.open(this.#initialize)
  }

  /** Its session, opened again if it is not there; undefined: it cannot be opened now. */
  async ready(): Promise<RunningSession | undefined> {
    if (this.there !== undefined) return this.there
    const now = this.#context.gateway.clock.tick()
    if (this.#opening !== undefined) await this.#opening
    else if (this.#initialize !== undefined && now >= this.#retryAt && !this.#host.ended)
      await this.open(this.#initialize)
    return this.running
  }

  async #open(initialize: Frame, passed: PassedHeaders): Promise<void> {
    let running: RunningSession | undefined
    const ended = (reason: string) => {
      if (running !== undefined && this.running === running) this.#ended(reason)
    }
    running = await this.#context.openSession(this.state, { ...this.#host.about, merged: false, ended })
    const answer = await running.clientRelay.take(initialize, passed)
    const frame = await responseIn(answer, (out) => this.#host.onMessage(this, out))
    const facts = frame === undefined || running.session.ended ? undefined : factsOf(frame)
    if (facts === undefined || this.#host.ended) {
      this.#context.sessions.end(running, 'initialize was refused')
      return this.#fail(frame === undefined ? 'It gave no answer to initialize.' : errorText(frame))
    }
    const agreed = this.#host.version
    if (agreed !== undefined && facts.version !== agreed) {
      this.#context.sessions.end(running, 'the versions do not match')
      const again = this.#initialize
      if (again !== undefined && again !== initialize) return this.#open(again, passed)
      return this.#fail(`It speaks MCP ${facts.version}, and other servers of the bundle ${agreed}.`)
    }
    running.session.listen((out) => this.#host.onMessage(this, out))
    this.running = running
    this.facts = facts
    this.missing = undefined
    this.#failures = 0
    this.#host.opened(this)
  }

  #fail(reason: string): void {
    this.missing = this.#context.gateway.redact.text(reason)
    this.#retryAt = this.#context.gateway.clock.tick() + Math.min(FIRST_RETRY_MS * 2 ** this.#failures, LAST_RETRY_MS)
    this.#failures++
  }

  /** The session has ended by itself: the server is gone, or the session was idle. */
  #ended(reason: string): void {
    this.running = undefined
    this.pages.clear()
    if (RESTS.has(reason) || this.#host.ended) return
    this.missing = this.#context.gateway.redact.text(reason)
    this.#retryAt = 0
    this.#host.lost(this)
  }

  /** The server cannot be reached: its session is of no more use. */
  lose(reason: string): void {
    const { running } = this
    if (running !== undefined) this.#context.sessions.end(running, reason)
  }

  /** The next use tries to open a session, however often that has failed. */
  retryNow(): void {
    this.#retryAt = 0
  }

  /** Ends its session, and tells nobody. */
  end(reason: string): void {
    const { running } = this
    this.running = undefined
    if (running !== undefined) this.#context.sessions.end(running, reason)
  }

  /** Sends a request of the proxy's own; gives the response, or undefined if the member is not there or does not answer. */
  async ask(build: (id: string) => Frame): Promise<Frame | undefined> {
    const running = await this.ready()
    if (running === undefined) return undefined
    this.#requestCount++
    const answer = await running.clientRelay.take(build(JSON.stringify(`guard-bundle-${this.#requestCount}`)))
    return responseIn(answer, (out) => this.#host.onMessage(this, out))
  }

  /** Sends a notification; nobody learns what becomes of it. */
  tell(text: string): void {
    void this.running?.clientRelay.take(frameOf(text))
  }
}

const factsOf = ({ text, result }: Frame): MemberFacts | undefined => {
  const version = stringIn(text, memberIn(result, 'protocolVersion')?.value)
  if (version === undefined) return undefined
  const declared = memberIn(result, 'capabilities')?.value
  const capabilities: unknown = declared === undefined ? {} : JSON.parse(sourceOf(text, declared))
  return {
    version,
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    instructions: stringIn(text, memberIn(result, 'instructions')?.value),
  }
}

/** What an error says. */
export const errorText = ({ text, error }: Frame): string =>
  stringIn(text, memberIn(error, 'message')?.value) ?? 'It refused initialize.'

/** The code of the catalogue that an error has. */
export const errorCode = ({ text, error }: Frame): string | undefined =>
  stringIn(text, memberIn(memberIn(error, 'data')?.value, 'code')?.value)

/** Names of one kind that a server has listed: own names by those in the bundle. A list counts when its last page is there; until then the one before it counts, too. */
class ListedNames {
  #whole: Names = new Map()
  #growing: Names = new Map()
  /** The server's whole list is known, and it has not said that it is another now. */
  isComplete = false

  /** The first page of a list follows. */
  begin(): void {
    this.#growing = new Map()
  }

  /** False: there are more than may be. */
  add(name: string, own: string): boolean {
    const known = this.#growing.get(name)
    if (known === undefined) this.#growing.set(name, [own])
    else if (!known.includes(own)) known.push(own)
    return this.#growing.size <= MAX_NAMES
  }

  /** The last page was there. */
  end(): void {
    this.#whole = this.#growing
    this.isComplete = true
  }

  /** The server's own names for a name of the bundle. */
  ownOf(name: string): readonly string[] {
    const now = this.#growing.get(name) ?? []
    return this.#growing === this.#whole || now.length > 0 ? now : (this.#whole.get(name) ?? [])
  }

  names(): Iterable<string> {
    return this.#whole.keys()
  }
}

type Names = Map<string, string[]>

const MAX_NAMES = 10_000
