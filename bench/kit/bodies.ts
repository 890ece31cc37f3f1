import { bodyOf, type Template, template } from './template.ts'

/** A request body of about `kib` KiB: a conversation of a coding agent with tools, as Chat Completions or Messages. */
export const body = (style: 'chat_completions' | 'messages', kib: number, seed = 1): Buffer => {
  const conversation = conversationOf(style, kib, seed)
  return bodyOf(conversation, conversation.ends.length)
}

/** The same conversation as a template that can be cut after each turn and stamped. */
export const conversationOf = (style: 'chat_completions' | 'messages', kib: number, seed = 1): Template =>
  kib < 8
    ? template({ style, first: kib * 512, turns: 0, result: 0, system: kib * 300, tools: 0, stream: false, seed })
    : template({
        style,
        first: 600,
        turns: Math.max(1, Math.round((kib * 1024 - 6000) / 1350)),
        result: 1000,
        system: 2000,
        tools: 5,
        stream: false,
        seed,
      })
