import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type DraftFacts, headComment, times, toolComment } from '../../../../plugins/mcp/draft/comments.ts'

const facts: DraftFacts = {
  server_ids: ['files'],
  date: '2026-01-31',
  tools: 2,
  uncovered: [],
  tooMany: 0,
  calls: 5,
  since: undefined,
  withArguments: 5,
  dropped: 0,
}
const head = (more: Partial<DraftFacts>): readonly string[] => headComment({ ...facts, ...more })
/** The lines that say what is left out. */
const leftOut = (more: Partial<DraftFacts>): readonly string[] => head(more).slice(head({}).length)

const commentOf = (description: string | null, title: string | null = null) =>
  toolComment({ tool: { description, title }, reading: { evidence: ['its name', 'its schema'] } } as never, undefined)

describe('the comments of a draft', () => {
  it('begin with what it is made of', () => {
    assert.equal(head({})[0], 'A draft for files, made on 2026-01-31 from 2 tools and 5 calls on record.')
    assert.equal(
      head({ server_ids: ['files', 'git', 'files'], tools: 1, calls: 1, since: '24h' })[0],
      'A draft for files, git, made on 2026-01-31 from 1 tool and 1 call on record since 24h.',
    )
  })
  it('tell what it leaves out, and nothing else', () => {
    assert.deepEqual(leftOut({}), [])
    assert.match(leftOut({ withArguments: 4 })[0] ?? '', /^Of 1 call only hashes of the arguments are on record/)
    assert.deepEqual(leftOut({ tooMany: 1, dropped: 1 }), [
      '1 further tool is in no rule, and asked about: more do not fit.',
      '1 test that did not come out is left out.',
    ])
    assert.deepEqual(leftOut({ tooMany: 2, dropped: 2 }), [
      '2 further tools are in no rule, and asked about: more do not fit.',
      '2 tests that did not come out are left out.',
    ])
  })
  it('name twenty tools that no rule is about', () => {
    const names = Array.from({ length: 21 }, (_, number) => `t${number}`)
    assert.match(leftOut({ uncovered: names.slice(0, 20) }).join(' '), /"t0", .*"t19"\.$/)
    assert.match(leftOut({ uncovered: names }).join(' '), /"t19" and others\.$/)
  })
  it('quote what a server says on one line, of 90 characters at most', () => {
    assert.equal(commentOf(null), 'its name; its schema')
    assert.equal(commentOf('Reads\n  a file.'), 'its name; its schema; "Reads a file."')
    assert.equal(commentOf(null, 'Read'), 'its name; its schema; "Read"')
    assert.match(commentOf('x'.repeat(90)), /"x{90}"$/)
    assert.match(commentOf('x'.repeat(91)), /"x{90}…"$/)
  })
  it('count in words', () => {
    assert.deepEqual([times(0), times(1), times(2)], ['0 times', 'once', '2 times'])
  })
})
