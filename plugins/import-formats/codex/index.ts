import { importFormat } from 'guard-gateway/lib/export-format'
import type { JsonObject } from 'guard-gateway/lib/json'
import { readSessionFile, sessionRequests } from 'guard-gateway/lib/otlp'
import { codexEntries } from './entries.ts'

/** Rollouts of Codex: `~/.codex/sessions/<year>/<month>/<day>/rollout-….jsonl`. */
export const codex = importFormat({
  id: 'codex',
  title: 'Codex',
  module: import.meta.url,
  accepts: ({ members }) => members.has('timestamp') && members.has('type') && members.has('payload'),
  read: (file, context) => readSessionFile(codexEntries, file, context),
  requests: (file) => sessionRequests(codexEntries, responses, file),
})

const responses = { id: 'responses', member: 'input', joined: (items: readonly JsonObject[]) => items }
