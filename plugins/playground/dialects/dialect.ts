import type { Answer, Failure, ScriptedText } from '../scenario.ts'

/** How one API style writes requests and replies. */
export interface Dialect {
  /** Id of the API style. */
  readonly id: string
  /** The body of a request. */
  request(say: readonly ScriptedText[], stream: boolean): object
  /** The body of a whole reply; `id` makes its ids its own. */
  reply(id: string, answer: Answer): object
  /** The events of a streamed reply, each as it goes over the wire. */
  events(id: string, answer: Answer): readonly string[]
  /** The body of a provider's error. */
  error(failure: Failure): object
}

/** The model that every request names and every reply is from. */
export const MODEL = 'playground-model'

/** 1 January 2026 in seconds: replies say when they were made, and say it the same every time. */
export const CREATED = 1_767_225_600

/** The pieces in which a text is streamed: word by word. */
export const piecesOf = (text: string): readonly string[] => text.match(/\s*\S+/g) ?? []

/** A server-sent event, with a name where the dialect gives one. */
export const frame = (data: object, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`
