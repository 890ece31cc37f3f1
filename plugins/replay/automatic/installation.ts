import { randomBytes } from 'node:crypto'
import {
  argumentHash,
  type Call,
  cutText,
  type Gateway,
  GuardError,
  type RepliedTool,
  type Settled,
} from 'guard-gateway/core'

const KEY_ID = 'argument_hash_key'
const NAME_CHARS = 256

/** The key that this installation hashes arguments with, made at the first start. */
export const hashKey = async ({ storage }: Gateway): Promise<string> => {
  await storage.put('installation', { id: KEY_ID, value: randomBytes(32).toString('hex') }, 'absent')
  const row = await storage.get('installation', KEY_ID)
  if (row === undefined) throw new GuardError('STORAGE_UNAVAILABLE', 'The key for argument hashes cannot be read back.')
  return row.value
}

/** The tool calls of a reply as they are recorded: names and hashes, no arguments. */
export const repliedTools = ({ reading }: Settled, key: string, { redact }: Gateway): readonly RepliedTool[] =>
  reading.calls.map(({ id, tool, args }) => ({
    id: id === null ? null : cutText(id, NAME_CHARS),
    tool: cutText(redact.text(tool), NAME_CHARS),
    argument_hash: argumentHash(key, args),
  }))

/** Calls of the Playground are told apart by the upstream that plays them. */
export const originOf = ({ upstream }: Call): 'gateway' | 'playground' =>
  upstream === 'playground' ? 'playground' : 'gateway'
