import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type Detector, Registry, undecided } from 'guard-gateway/core'
import { exactRepeat } from 'guard-gateway/plugins/detectors/exact-repeat'
import { placeInThread } from '#lib/threads'
import { decide } from '../../../plugins/policy/evaluate/decide.ts'
import { History } from '../../../plugins/policy/history/history.ts'
import { policyOf } from '../../../plugins/policy/policy.ts'
import { type Item, step, system, user } from '../../kit/conversation.ts'
import { call, rule } from '../../kit/evidence.ts'
import { newSession } from './kit.ts'

describe('a session of one conversation', () => {
  const detectors = new Registry<Detector>('detector')
  detectors.add(exactRepeat)
  const about = { project_id: 'shop', version: 1, source: 'stored', mode: 'enforce' } as const
  const policy = policyOf({ ...about, rules: [rule(exactRepeat, { threshold: 4 })] }, detectors)
  /** What a request does with the items of the one before it. */
  const move = fc.constantFrom('longer', 'longer', 'longer', 'again', 'retry', 'shorter', 'anew', 'system', 'subagent')
  const next = (items: readonly Item[], kind: string, n: number): readonly Item[] => {
    if (kind === 'longer' || kind === 'subagent') return [...items, ...step('read', { n }), user(`${n}`)]
    if (kind === 'shorter') return items.slice(0, -2)
    if (kind === 'anew') return [system('s'), user(`${n}`)]
    return kind === 'system' ? [system(`${n}`), ...items.slice(1)] : items
  }

  it('finds where a request is as if it had examined every row', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 24 }), (moves) => {
        const session = newSession()
        const history = new History(session)
        let items: readonly Item[] = [system('s'), user('fix it')]
        for (const [n, kind] of moves.entries()) {
          items = next(items, kind, n)
          const subagent = kind === 'subagent' ? { subagent: 'one' } : {}
          const asked = { ...call({ session, items, retry: kind === 'retry', ...subagent }), mode: 'enforce' as const }
          const { rows, window, fresh, seen, replied, limit } = history
          assert.deepEqual(
            placeInThread(asked, history),
            placeInThread(asked, { rows, window, fresh, seen, replied, limit }),
          )
          decide(undecided, asked, session, history, policy, assert.fail)
        }
      }),
    )
  })
})
