import type { Gateway } from 'guard-gateway/core'
import { chatCompletions } from './chat-completions.ts'
import type { Dialect } from './dialect.ts'
import { messages } from './messages.ts'
import { responses } from './responses.ts'

const dialects: readonly Dialect[] = [chatCompletions, messages, responses]

/** Ids of the API styles that the gateway serves and scenarios can be written in; the first is what a run is in if nothing else is said. */
export const stylesOf = ({ apiStyles }: Gateway): readonly string[] =>
  dialects.map(({ id }) => id).filter((id) => apiStyles.get(id) !== undefined)

/** The dialect of an API style; undefined if the Playground does not have it. */
export const dialectOf = (style: string): Dialect | undefined => dialects.find(({ id }) => id === style)
