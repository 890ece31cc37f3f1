import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Match } from 'guard-gateway/core'
import { contentChant } from 'guard-gateway/plugins/detectors/content-chant'
import { maxCost } from 'guard-gateway/plugins/detectors/max-cost'
import { noveltyStall } from 'guard-gateway/plugins/detectors/novelty-stall'
import { reasoningOnly } from 'guard-gateway/plugins/detectors/reasoning-only'
import { reread } from 'guard-gateway/plugins/detectors/reread'
import { restartLoop } from 'guard-gateway/plugins/detectors/restart-loop'
import { rewordedCall } from 'guard-gateway/plugins/detectors/reworded-call'
import { staleTurns } from 'guard-gateway/plugins/detectors/stale-turns'
import { textRepeat } from 'guard-gateway/plugins/detectors/text-repeat'
import { threadRespawn } from 'guard-gateway/plugins/detectors/thread-respawn'
import { toolErrorStreak } from 'guard-gateway/plugins/detectors/tool-error-streak'
import { wordedError } from 'guard-gateway/plugins/detectors/worded-error'
import { call } from '../../../kit/evidence.ts'
import { type Flag, flags } from '../flags.ts'
import { detecting, newSession, startBench } from '../kit.ts'

const more = [
  maxCost,
  noveltyStall,
  staleTurns,
  toolErrorStreak,
  textRepeat,
  wordedError,
  rewordedCall,
  reread,
  threadRespawn,
  reasoningOnly,
  contentChant,
  restartLoop,
  detecting('curt', () => 'so it is'),
]

const flagOf = async ({
  rule,
  requests,
  ends = {},
  reply,
  tools,
}: Flag): Promise<{ match: Match | undefined; ids: string[] }> => {
  const bench = await startBench({ defaults: [rule] }, more)
  const session = newSession()
  const ids: string[] = []
  let match: Match | undefined
  for (const items of requests) {
    assert.equal(match, undefined, 'it speaks too early')
    const asked = call({ session, items, ...(tools === undefined ? {} : { envelope: { tools } }) })
    ids.unshift(asked.id)
    const decision = await bench.ask(asked)
    if (reply !== undefined) decision.watch?.text(reply)
    match = decision.matches[0] ?? decision.watch?.matches[0]
    await bench.end(asked, decision, ends)
  }
  return { match, ids }
}

describe('a flag', () => {
  for (const [what, flag] of flags) {
    it(`of ${what} says whether equal results would have raised it, and which requests it matched`, async () => {
      const { match, ids } = await flagOf(flag)
      assert.equal(match?.results_equal, flag.results_equal)
      const named = match.where?.map((place) => place.request)
      assert.deepEqual(
        named,
        flag.names.map((back) => ids[back]),
      )
    })
  }
  it('of every detector there is, is examined here', () => {
    const folder = dirname(fileURLToPath(import.meta.resolve('guard-gateway/plugins/detectors/exact-repeat')))
    const files = readdirSync(folder).filter((name) => name.endsWith('.ts'))
    const seen = new Set(flags.map(([, { rule }]) => `${rule.rule_type.replaceAll('_', '-')}.ts`))
    assert.deepEqual(
      files.filter((name) => !seen.has(name)),
      [],
    )
  })
})
