import { applyEdits, type Edit, memberIn, setMember, sourceOf, stringIn } from '#lib/json'
import { cancelledKey, type Frame } from '#lib/json-rpc'
import { withData, withEventId } from '#lib/sse'
import type { OutgoingMessage } from '../relay/response.ts'
import { eventId } from './event-ids.ts'
import { kindsChangedBy } from './kinds.ts'
import type { Member } from './member.ts'
import { readOut } from './messages.ts'
import type { PendingTokens, ServerRequests } from './server-requests.ts'

/** Messages of members on their way to the client of a bundle. All are passed on as they came but for what could be mistaken for another member's. */
export class ToClient {
  readonly #requests: ServerRequests
  readonly #tokens: PendingTokens

  constructor(requests: ServerRequests, tokens: PendingTokens) {
    this.#requests = requests
    this.#tokens = tokens
  }

  /** The message for the client; undefined: none. `last`: in the stream that all members share, the last event ids of each. */
  take(member: Member, out: OutgoingMessage, last?: Map<string, string>): OutgoingMessage | undefined {
    const frame = readOut(out)
    const edits = frame === undefined ? [] : this.#edits(member, frame)
    if (edits === 'drop') return undefined
    const rewritten = frame === undefined || edits.length === 0 ? undefined : applyEdits(frame.text, edits)
    const raw = out.event === undefined || rewritten === undefined ? out.event : withData(out.event, rewritten)
    return {
      ...(rewritten === undefined ? out : { message: rewritten, resumable: out.resumable === true }),
      ...(raw === undefined ? {} : { event: out.resumable === true ? this.#identified(member, raw, last) : raw }),
    }
  }

  /** Where a stream is taken up again is a matter of its member. */
  #identified(member: Member, raw: Buffer, last: Map<string, string> | undefined): Buffer {
    return withEventId(raw, (id) => {
      const rewritten = eventId(member.id, id, last)
      last?.set(member.id, id)
      return rewritten
    })
  }

  #edits(member: Member, frame: Frame): readonly Edit[] | 'drop' {
    if (frame.kind === 'request') return this.#request(member, frame)
    if (frame.kind === 'response') return []
    const { method, params, text } = frame
    for (const kind of kindsChangedBy(method)) member.listed[kind].isComplete = false
    if (method === 'notifications/message') return named(member, frame)
    if (method === 'notifications/cancelled') return this.#cancelled(member, frame)
    const token = method === 'notifications/progress' ? memberIn(params, 'progressToken')?.value : undefined
    // a server may not say how far another's call is
    return token !== undefined && this.#tokens.isOfAnother(member, sourceOf(text, token)) ? 'drop' : []
  }

  #request(member: Member, { id = '', text, root, params, method }: Frame): readonly Edit[] {
    const meta = memberIn(params, '_meta')?.value
    const token = memberIn(meta, 'progressToken')?.value
    const number = this.#requests.add({ member, id, token: token === undefined ? undefined : sourceOf(text, token) })
    const edits = [setMember(root, 'id', String(number))]
    if (token !== undefined) edits.push({ start: token.start, end: token.end, text: String(number) })
    const prompt = method === 'elicitation/create' ? memberIn(params, 'message')?.value : undefined
    const message = stringIn(text, prompt)
    // a person should know who asks: all members come to them under one name
    if (prompt !== undefined && message !== undefined)
      edits.push({ start: prompt.start, end: prompt.end, text: JSON.stringify(`[${member.id}] ${message}`) })
    return edits
  }

  #cancelled(member: Member, frame: Frame): readonly Edit[] | 'drop' {
    const id = memberIn(frame.params, 'requestId')?.value
    const number = id === undefined ? undefined : this.#requests.numberOf(member, sourceOf(frame.text, id))
    if (id === undefined || number === undefined || cancelledKey(frame) === undefined) return 'drop'
    this.#requests.delete(number)
    return [{ start: id.start, end: id.end, text: String(number) }]
  }
}

/** A log message names its server. */
const named = (member: Member, { text, params }: Frame): readonly Edit[] => {
  if (params?.members === undefined) return []
  const logger = stringIn(text, memberIn(params, 'logger')?.value)
  return [setMember(params, 'logger', JSON.stringify(logger === undefined ? member.id : `${member.id}/${logger}`))]
}
