import { text } from 'node:stream/consumers'
import { type Command, isShape, readJson, terminalLine } from 'guard-gateway/core'
import type { ClientsOptions } from './options.ts'
import type { SessionFigures } from './summary.ts'

const LIMIT_MS = 200

/** `guard statusline`: one line about the session that a client tells of on standard input; nothing, rather than late. */
export const statusline = ({ address }: ClientsOptions): Command => ({
  id: 'statusline',
  summary: 'one line about a session, for the status line of Claude Code',
  example: 'echo \'{"session_id":"…"}\' | guard statusline',
  async run(_input, io) {
    const line = await lineFor(address).catch(() => '')
    io.out.write(`${line}\n`)
    return 0
  },
})

const lineFor = async (address: string): Promise<string> => {
  const asked = readJson(await text(process.stdin))
  const id = isShape(asked) && typeof asked.session_id === 'string' ? asked.session_id : ''
  const answer = await fetch(`${address}/api/sessions/by-external/${encodeURIComponent(id)}`, {
    signal: AbortSignal.timeout(LIMIT_MS),
  })
  if (!answer.ok) return 'guard: no request yet'
  const { session } = (await answer.json()) as { readonly session: SessionFigures }
  const { paused, requests, total_tokens, flagged, blocked } = session
  const parts = [`${requests} requests`, `${total_tokens} tokens`]
  if (flagged > 0) parts.push(`${flagged} flagged`)
  if (blocked > 0) parts.push(`${blocked} blocked`)
  return terminalLine(`guard: ${paused ? 'PAUSED, ' : ''}${parts.join(', ')}`)
}
