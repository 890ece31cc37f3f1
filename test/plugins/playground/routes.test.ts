import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { scenario, scenariosOf } from 'guard-gateway/plugins/playground'
import { type House, inHouse, openHouse, type Run } from './kit.ts'

const BASE = '/api/v1/playground'

interface Failed {
  readonly error: { readonly code: string; readonly message: string; readonly known?: readonly string[] }
}
interface Listed {
  readonly id: string
  readonly kind: string
  readonly styles: readonly string[]
  readonly modes: readonly string[]
  readonly step_count: number
  readonly steps: readonly { readonly what: string; readonly expect: Record<string, Record<string, unknown>> }[]
}
interface Page {
  readonly runs: readonly Run[]
  readonly next_cursor: string | null
}

const shipped = [
  'calm-work',
  'exact-loop',
  'tool-loop',
  'tool-error-loop',
  'no-progress',
  'stale-loop',
  'reread-loop',
  'respawn-loop',
  'text-loop',
  'complaint-loop',
  'reworded-loop',
  'reasoning-loop',
  'error-retry',
  'sequence-loop',
  'request-limit',
  'token-limit',
  'cost-limit',
  'recovery',
  'disabled-rule',
  'flag-only',
  'steered-loop',
  'paused-loop',
  'paused-session',
  'paused-agent',
  'three-styles',
  'streaming',
  'broken-stream',
  'content-chant',
  'upstream-error',
  'mcp-allow',
  'mcp-deny',
  'mcp-confirm',
  'mcp-confirm-session',
  'mcp-confirm-denied',
  'mcp-transform',
  'mcp-rate-limit',
  'mcp-shadow-deny',
  'mcp-invalid-arguments',
  'mcp-unknown-tool',
  'mcp-changed-tool',
  'mcp-path',
  'mcp-shell',
  'mcp-http',
  'mcp-sql',
  'mcp-size',
]

const own = scenario({
  id: 'own-story',
  title: 'Mine',
  summary: 'One request.',
  kind: 'model',
  steps: [
    {
      what: 'asks',
      do: 'request',
      say: [{ user: 'hello' }],
      reply: { text: 'hi', input_tokens: 1, output_tokens: 1 },
      expect: { shadow: { decision: 'allow' }, enforce: { decision: 'allow' } },
    },
  ],
})

describe('GET scenarios', () => {
  it('lists what there is, with what is expected of each step', () =>
    inHouse(async (house) => {
      const { status, body } = await house.ask<{ scenarios: readonly Listed[] }>('GET', `${BASE}/scenarios`)
      assert.equal(status, 200)
      assert.deepEqual(
        body.scenarios.map(({ id }) => id),
        shipped,
      )
      const exact = body.scenarios[1]
      assert.deepEqual(exact?.styles, ['chat_completions', 'messages', 'responses'])
      assert.deepEqual(exact?.modes, ['shadow', 'enforce'])
      assert.equal(exact?.step_count, 4)
      assert.deepEqual(exact?.steps[2], {
        what: 'and again',
        expect: {
          shadow: { decision: 'shadow_flag', reason: 'LOOP_EXACT', status: 200, outcome: 'ok' },
          enforce: { decision: 'block', reason: 'LOOP_EXACT', status: 429, outcome: 'blocked' },
        },
      })
      assert.deepEqual(body.scenarios.find(({ id }) => id === 'three-styles')?.styles, [])
      const allow = body.scenarios.find(({ id }) => id === 'mcp-allow')
      assert.deepEqual([allow?.kind, allow?.styles], ['mcp', []])
      assert.deepEqual(allow?.steps[0]?.expect, {
        shadow: { outcome: 'ok', sees: 'read_file' },
        enforce: { outcome: 'ok', sees: 'read_file' },
      })
    }))

  it('lists scenarios of other plugins, and runs them', () =>
    inHouse(
      async (house) => {
        assert.deepEqual(scenariosOf(house.gateway).ids(), [...shipped, 'own-story'])
        assert.equal((await house.run({ scenario: 'own-story' })).matched, true)
      },
      { more: [own] },
    ))
})

describe('POST runs', () => {
  let house: House
  before(async () => {
    house = await openHouse()
  })
  after(() => house.close())

  it('answers the waiting run and where to find it', () =>
    inHouse(async (house) => {
      const { status, headers, body } = await house.ask('POST', `${BASE}/runs?x=1`, { scenario_id: 'exact-loop' })
      assert.equal(status, 202)
      assert.match(body.id, /^play_[0-9a-v]{14}[a-z2-7]{12}$/)
      assert.equal(headers.location, `${BASE}/runs/${body.id}`)
      assert.deepEqual(
        [body.status, body.mode, body.style, body.pace_ms, body.matched, body.steps],
        ['queued', 'shadow', 'chat_completions', 0, null, []],
      )
      assert.deepEqual([body.session_id, body.started_at, body.ended_at], [null, null, null])
      const found = await house.ask('GET', String(headers.location))
      assert.equal(found.body.id, body.id)
    }))

  const refused: readonly (readonly [
    what: string,
    order: object | undefined,
    status: number,
    code: string,
    message: RegExp,
  ])[] = [
    [
      'an unknown scenario',
      { scenario: 'exakt-loop' },
      404,
      'SCENARIO_NOT_FOUND',
      /"exakt-loop"; there is calm-work, exact-loop, /,
    ],
    ['no scenario', {}, 400, 'INVALID_REQUEST', /needs "scenario"/],
    ['two scenarios', { scenario: 'exact-loop', scenario_id: 'recovery' }, 400, 'INVALID_REQUEST', /two scenarios/],
    [
      'an unknown style',
      { scenario: 'exact-loop', style: 'morse' },
      400,
      'INVALID_REQUEST',
      /"morse"; there is chat_completions, messages, responses/,
    ],
    [
      'a style where each request has its own',
      { scenario: 'three-styles', style: 'messages' },
      400,
      'INVALID_REQUEST',
      /leave style out/,
    ],
    ['an unknown mode', { scenario: 'exact-loop', mode: 'fast' }, 400, 'INVALID_REQUEST', /mode/],
    ['a pace above two seconds', { scenario: 'exact-loop', pace_ms: 2001 }, 400, 'INVALID_REQUEST', /pace_ms/],
    [
      'a member that means nothing',
      { scenario: 'exact-loop', speed: 1 },
      400,
      'INVALID_REQUEST',
      /"speed" cannot be set here/,
    ],
    ['no body', undefined, 400, 'INVALID_REQUEST', /body/],
  ]
  for (const [what, order, status, code, message] of refused) {
    it(`refuses ${what}`, async () => {
      const answer = await house.ask<Failed>('POST', `${BASE}/runs`, order)
      assert.deepEqual([answer.status, answer.body.error.code], [status, code])
      assert.match(answer.body.error.message, message)
      const { body } = await house.ask<Page>('GET', `${BASE}/runs`)
      assert.deepEqual(body.runs, [])
    })
  }

  it('names the scenarios there are to programs too', () =>
    inHouse(async (house) => {
      const { body } = await house.ask<Failed>('POST', `${BASE}/runs`, { scenario: 'nothing' })
      assert.deepEqual(body.error.known, shipped)
    }))
})

describe('GET and DELETE runs', () => {
  it('lists runs newest first, without their steps, by scenario and status', () =>
    inHouse(async (house) => {
      const ids: string[] = []
      for (const scenario of ['flag-only', 'recovery', 'flag-only']) ids.unshift((await house.run({ scenario })).id)
      const idsOf = async (query: string) =>
        (await house.ask<Page>('GET', `${BASE}/runs${query}`)).body.runs.map(({ id }) => id)
      assert.deepEqual(await idsOf(''), ids)
      assert.deepEqual(await idsOf('?scenario_id=flag-only'), [ids[0], ids[2]])
      assert.deepEqual(await idsOf('?status=completed&scenario_id=recovery'), [ids[1]])
      assert.deepEqual(await idsOf('?status=failed'), [])
      const { body } = await house.ask<Page>('GET', `${BASE}/runs?limit=2`)
      assert.equal('steps' in (body.runs[0] ?? {}), false)
      assert.deepEqual(await idsOf(`?limit=2&cursor=${body.next_cursor}`), [ids[2]])
    }))

  it('refuses filters there are not, and limits out of range', () =>
    inHouse(async (house) => {
      const odd = await house.ask<Failed>('GET', `${BASE}/runs?mode=shadow`)
      assert.deepEqual([odd.status, odd.body.error.code], [400, 'UNKNOWN_FILTER'])
      for (const query of ['limit=0', 'limit=201', 'status=done']) {
        const { status, body } = await house.ask<Failed>('GET', `${BASE}/runs?${query}`)
        assert.deepEqual([status, body.error.code], [400, 'INVALID_REQUEST'], query)
      }
    }))

  it('know no run of another name', () =>
    inHouse(async (house) => {
      for (const method of ['GET', 'DELETE'] as const) {
        const { status, body } = await house.ask<Failed>(method, `${BASE}/runs/play_nothing`)
        assert.deepEqual([status, body.error.code], [404, 'PLAYGROUND_RUN_NOT_FOUND'])
        assert.match(body.error.message, /"play_nothing"/)
      }
    }))

  it('cancel no run that has ended', () =>
    inHouse(async (house) => {
      const { id } = await house.run({ scenario: 'flag-only' })
      const { status, body } = await house.ask<Failed>('DELETE', `${BASE}/runs/${id}`)
      assert.deepEqual([status, body.error.code], [409, 'PLAYGROUND_RUN_ENDED'])
      assert.equal((await house.ask('GET', `${BASE}/runs/${id}`)).body.status, 'completed')
    }))
})
