import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sessionLines } from 'guard-gateway/lib/terminal'

const session = {
  id: 'ses_01k9z3m5q7r9t1v3x5z7b9d1f3',
  project_id: 'a-project-of-some-length',
  agent_id: 'reviewer',
  paused: true,
  requests: 1_234,
  flagged: 12,
  blocked: 3,
  total_tokens: 98_765,
  cost_micro: 1_250_000,
  last_seen_at: '2026-03-02T12:00:00.000Z',
}

describe('sessionLines', () => {
  it('fit a terminal: sessions, their figures and what is paused stay, whole', () => {
    for (const width of [undefined, 130, 110, 100, 80, 72]) {
      const lines = sessionLines([session], width)
      for (const { length } of lines) assert.ok(length <= (width ?? length), `${length} of ${width}`)
      assert.match(lines[1] ?? '', /ses_01k9z3m5q7r9t1v3x5z7b9d1f3 .* 1234 +12 +3 .* 1\.25 {2}paused$/)
    }
    assert.match(
      sessionLines([session], undefined)[1] ?? '',
      /^2026-03-02 12:00:00 .* a-project-of-some-length {2}reviewer/,
    )
  })
})
