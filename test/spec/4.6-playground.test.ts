import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { errorOf, type Service, startService } from '../kit/service.ts'

interface RunView {
  readonly id: string
  readonly scenario_id: string
  readonly status: string
  readonly matched: boolean | null
  readonly session_id: string | null
  readonly steps: readonly {
    readonly decision: string | null
    readonly request_id: string | null
    readonly repeats: string | null
  }[]
}

const ACTIVE = ['queued', 'running']

describe('4.6 playground', () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service[Symbol.asyncDispose]())

  /** Starts a run and polls it until it has ended, as clients do. */
  const finished = async (body: object): Promise<RunView> => {
    const started = await service.request('POST', '/api/v1/playground/runs', body)
    assert.equal(started.status, 202, started.text)
    const { id } = started.json as RunView
    for (;;) {
      const { status, json } = await service.request('GET', `/api/v1/playground/runs/${id}`)
      assert.equal(status, 200)
      const run = json as RunView
      if (!ACTIVE.includes(run.status)) return run
      await wait(10)
    }
  }

  it('GET /scenarios lists scenarios, exact-loop among them', async () => {
    const { status, json } = await service.request('GET', '/api/v1/playground/scenarios')
    const { scenarios } = json as { scenarios: { id: string; title: string }[] }
    assert.equal(status, 200)
    assert.ok(scenarios.some(({ id, title }) => id === 'exact-loop' && title !== ''))
  })
  it('POST /runs starts a run, which GET /runs/{id} shows until it has ended', async () => {
    const run = await finished({ scenario: 'exact-loop' })
    assert.deepEqual([run.scenario_id, run.status, run.matched], ['exact-loop', 'completed', true])
    assert.ok(run.steps.some(({ decision }) => decision === 'shadow_flag'))
  })
  it('a scenario is deterministic: it ends the same way every time', async () => {
    const [first, second] = [await finished({ scenario: 'exact-loop' }), await finished({ scenario: 'exact-loop' })]
    const decisions = ({ steps }: RunView) => steps.map(({ decision }) => decision)
    assert.notEqual(first.id, second.id)
    assert.deepEqual(decisions(first), decisions(second))
  })
  it('runs pass through the pipeline without a provider, and are stored like ordinary traffic', async () => {
    const before = service.provider.requests.length
    const { session_id, steps } = await finished({ scenario: 'exact-loop', mode: 'enforce' })
    assert.equal(service.provider.requests.length, before, 'no provider was asked')
    const history = await service.events(session_id ?? '')
    assert.deepEqual(
      history.map(({ request_id }) => request_id),
      steps.filter(({ repeats }) => repeats === null).map(({ request_id }) => request_id),
    )
    assert.equal(history.at(-1)?.attributes.decision, 'block')
  })
  it('runs link to Replay: their session has a run of the origin playground', async () => {
    const { session_id } = await finished({ scenario: 'exact-loop' })
    const { json } = await service.request('GET', `/api/v1/runs?session_id=${session_id}`)
    const { runs } = json as { runs: { origin: string; event_count: number; failure_tag: string | null }[] }
    assert.deepEqual(
      runs.map(({ origin, failure_tag }) => [origin, failure_tag]),
      [['playground', 'loop']],
    )
    assert.ok((runs[0]?.event_count ?? 0) >= 3)
  })
  it('what does not exist is refused', async () => {
    const scenario = await service.request('POST', '/api/v1/playground/runs', { scenario: 'no-such' })
    assert.deepEqual([scenario.status, errorOf(scenario).code], [404, 'SCENARIO_NOT_FOUND'])
    assert.equal((await service.request('GET', '/api/v1/playground/runs/play_nobody')).status, 404)
  })
})
