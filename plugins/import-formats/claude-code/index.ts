import { importFormat } from 'guard-gateway/lib/export-format'
import { joinedMessages, readSessionFile, sessionRequests } from 'guard-gateway/lib/otlp'
import { claudeCodeEntries } from './entries.ts'

/** Session files of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, and those of its subagents beside it. */
export const claudeCode = importFormat({
  id: 'claude_code',
  title: 'Claude Code',
  module: import.meta.url,
  accepts: ({ members }) => members.has('type') && known.some((name) => members.has(name)),
  read: (file, context) => readSessionFile(claudeCodeEntries, file, context),
  requests: (file) => sessionRequests(claudeCodeEntries, messages, file),
})

const messages = { id: 'messages', member: 'messages', joined: joinedMessages }

/** Members of lines that a file may begin with: of messages and states, of summaries, of snapshots. */
const known = ['sessionId', 'leafUuid', 'isSnapshotUpdate']
