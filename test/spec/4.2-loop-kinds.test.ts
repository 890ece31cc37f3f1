import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Service, startService } from '../kit/service.ts'
import { type Ask, textLoops, toolLoops } from './loops/kinds.ts'
import { sessionLoops } from './loops/sessions.ts'

const presets = ['enforce-recommended', 'observe'] as const

describe('4.2 model proxy: every kind of loop that was reported or tried is flagged', () => {
  let service: Service
  before(async () => {
    service = await startService()
    for (const preset of presets) await service.policy({ preset }, preset)
  })
  after(() => service[Symbol.asyncDispose]())

  /** The first loop that a policy speaks of, and with which request. */
  const flag = async (asks: readonly Ask[], project: string, session: string): Promise<string | undefined> => {
    for (const [index, { path, body, answer }] of asks.entries()) {
      if (answer !== undefined) service.provider.script({ body: JSON.stringify(answer) })
      const { status, headers, text } = await service.request('POST', path, body, {
        'x-guard-project-id': project,
        'x-guard-session-id': session,
      })
      assert.equal(status, 200, text)
      const reason = headers.get('x-guard-reason')
      if (reason?.startsWith('LOOP_')) return `${reason} ${index + 1}`
    }
    return undefined
  }

  const kinds = { ...toolLoops, ...textLoops, ...sessionLoops }
  for (const [place, [kind, asks]] of Object.entries(kinds).entries()) {
    it(kind, async () => {
      const recommended = await flag(asks, 'enforce-recommended', `${place}`)
      const observed = await flag(asks, 'observe', `${place}`)
      assert.match(observed ?? 'nothing', /^LOOP_/)
      assert.match(recommended ?? 'nothing', observedAlone.has(kind) ? /^nothing/ : /^LOOP_/)
      const said = observedAlone.has(kind) ? observed : recommended
      assert.match(said ?? '', new RegExp(`^${codeOf(kind)}`))
    })
  }
})

/**
 * New searches with the answer of the last one, calls that tell no result and a file in other ranges are work as often as not: only
 * whoever looks is told.
 */
const observedAlone: ReadonlySet<string> = new Set([
  'a search that finds nothing, in ever new words',
  'web_search_call',
  'one file in other ranges',
])

/** The code of a kind that nothing but one rule sees; of any other the beginning of all. */
const codeOf = (kind: string): string => codes[kind] ?? (kind in textLoops ? 'LOOP_TEXT' : 'LOOP_')

/** What nothing but a rule of its own sees. */
const codes: Readonly<Record<string, string>> = {
  'a schema error in words': 'LOOP_WORDED_ERROR',
  'a key that is refused, whatever is asked': 'LOOP_WORDED_ERROR',
  'the same plan with other explanations': 'LOOP_REWORDED',
  'the same command with other descriptions': 'LOOP_REWORDED',
  'a history that is compacted again and again': 'LOOP_RESPAWN',
  'a subagent that is sent again after the same failure': 'LOOP_RESPAWN',
  'replies that only reason': 'LOOP_REASONING',
}
