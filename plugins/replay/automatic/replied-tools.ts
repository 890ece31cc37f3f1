import type { Gateway, RepliedTool, Settled } from 'guard-gateway/core'
import { cutText } from 'guard-gateway/lib/text'
import { argumentHash } from 'guard-gateway/lib/trace'

const NAME_CHARS = 256

/** The recorded tool calls of a reply: names and argument hashes, no arguments. */
export const repliedTools = ({ reading }: Settled, key: string, { redact }: Gateway): readonly RepliedTool[] =>
  reading.calls.map(({ id, tool, args }) => ({
    id: id === null ? null : cutText(id, NAME_CHARS),
    tool: cutText(redact.text(tool), NAME_CHARS),
    argument_hash: argumentHash(key, args),
  }))
