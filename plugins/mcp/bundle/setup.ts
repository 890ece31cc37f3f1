import { memberIn, stringIn } from '#lib/json'
import { type Frame, resultFrame } from '#lib/json-rpc'
import { type ClientResponse, resultResponse } from '../relay/response.ts'
import type { Member } from './member.ts'
import { frameOf, withRequestId } from './messages.ts'
import { within } from './within.ts'

const MAX_SUBSCRIPTIONS = 1_000
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

/** What the client has told members for the whole session. One that comes later, or comes back, is told it then. */
export class Setup {
  readonly #members: readonly Member[]
  readonly #waitMs: number
  readonly #subscriptions = new Map<Member, Set<string>>()
  #initialized: string | undefined
  #level: Frame | undefined

  constructor(members: readonly Member[], wait_ms: number) {
    this.#members = members
    this.#waitMs = wait_ms
  }

  /** `notifications/initialized` has come. */
  initialized(text: string): void {
    this.#initialized = text
  }

  /** Whether the client wants log messages of this level. */
  wants(level: string): boolean {
    const minimum = stringIn(this.#level?.text ?? '', memberIn(this.#level?.params, 'level')?.value)
    return minimum === undefined || levels.indexOf(level) >= levels.indexOf(minimum)
  }

  /** Sets the level of all members that log; the first refusal is the answer. */
  async setLevel(frame: Frame): Promise<ClientResponse> {
    const { id = '' } = frame
    const logging = this.#members.filter((member) => member.there !== undefined && member.has('logging'))
    const requests = logging.map((member) => member.ask((own) => withRequestId(frame, own)))
    const responses = await Promise.all(requests.map((one) => within(one, this.#waitMs)))
    const refused = responses.find((response) => response?.error !== undefined)
    if (refused !== undefined) return resultResponse(withRequestId(refused, id).text)
    this.#level = frame
    return resultResponse(resultFrame(id, '{}'))
  }

  /** Keeps what the client subscribes to. */
  subscribed(member: Member, method: string, uri: string): void {
    if (method !== 'resources/subscribe' && method !== 'resources/unsubscribe') return
    const uris = this.#subscriptions.get(member) ?? new Set()
    this.#subscriptions.set(member, uris)
    if (method === 'resources/unsubscribe') uris.delete(uri)
    else if (uris.size < MAX_SUBSCRIPTIONS) uris.add(uri)
  }

  /** A member has another session than the one that was told. */
  async repeat(member: Member): Promise<void> {
    if (this.#initialized === undefined) return
    member.tell(this.#initialized)
    const level = this.#level
    if (level !== undefined && member.has('logging')) await member.ask((id) => withRequestId(level, id))
    for (const uri of this.#subscriptions.get(member) ?? [])
      await member.ask((id) =>
        frameOf(`{"jsonrpc":"2.0","id":${id},"method":"resources/subscribe","params":{"uri":${JSON.stringify(uri)}}}`),
      )
  }
}
