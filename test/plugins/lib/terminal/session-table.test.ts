import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { displayWidth, type ListedSession, sessionLines } from '#lib/terminal'
import { fakeIo } from '../../../kit/io.ts'

const now = Date.parse('2026-03-02T12:03:00.000Z')

const session: ListedSession = {
  id: 'ses_01k9s3m5q7r9t1abcdefghijkl',
  name: 'Fix the flaky test of the cart',
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

const linesOn = (columns: number | undefined, ...sessions: readonly ListedSession[]) =>
  sessionLines(sessions, now, {
    input: { options: { color: false } },
    io: fakeIo(columns === undefined ? {} : { tty: true, columns }),
  })

describe('sessionLines', () => {
  it('fit a terminal: titles first, flags and what is paused stay, the id comes last and short', () => {
    for (const columns of [160, 130, 110, 100, 80, 72]) {
      const [head = '', line = ''] = linesOn(columns, session)
      for (const text of [head, line]) assert.ok(displayWidth(text) <= columns, `${text.length} of ${columns}`)
      assert.match(line, /^Fix the .* paused .* 12 +3 .* 1\.25 {2}ses_…5q7r9t1…$/)
    }
    assert.match(linesOn(160, session)[1] ?? '', /paused {2}3 min ago +1,234 /)
    assert.match(linesOn(80, session)[0] ?? '', /^session .*state.* flagged +blocked +cost +id$/)
  })

  it('are for scripts where there is no terminal: exact times and whole ids', () => {
    const [, line = ''] = linesOn(undefined, session)
    assert.match(line, /2026-03-02 12:00:00 .* ses_01k9s3m5q7r9t1abcdefghijkl$/)
  })

  it('keep their columns in any script, and leave out columns that say nothing', () => {
    const wide = { ...session, name: '買い物かごの壊れやすいテストを直す 🛒🛒', agent_id: null, paused: false }
    for (const columns of [110, 80, 64])
      for (const text of linesOn(columns, wide, { ...wide, name: 'plain' }))
        assert.ok(displayWidth(text) <= columns, `${displayWidth(text)} of ${columns}: ${text}`)
    const [head = ''] = linesOn(80, wide)
    assert.doesNotMatch(head, /agent|state/)
    assert.match(head, /last seen/)
  })
})
