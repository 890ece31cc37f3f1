import { importFormat } from 'guard-gateway/lib/export-format'
import type { JsonObject } from 'guard-gateway/lib/json'
import { readSessionFile, sessionRequests } from 'guard-gateway/lib/otlp'
import { geminiEntries } from './entries.ts'

/** Chats of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-….jsonl`, and those in JSON of earlier versions. */
export const geminiCli = importFormat({
  id: 'gemini_cli',
  title: 'Gemini CLI',
  module: import.meta.url,
  accepts: ({ members }) => members.has('sessionId') && members.has('projectHash'),
  read: (file, context) => readSessionFile(geminiEntries, file, context),
  requests: (file) => sessionRequests(geminiEntries, contents, file),
})

const contents = { id: 'gemini', member: 'contents', joined: (items: readonly JsonObject[]) => items }
