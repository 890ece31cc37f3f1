import { setTimeout as wait } from 'node:timers/promises'
import { errorBody, type Gateway, GuardError, timeSince } from 'guard-gateway/core'
import { pages } from '#lib/paging'
import type { Administration } from './administration.ts'
import { playgroundErrors } from './error-codes.ts'
import { namesOf } from './names.ts'
import type { Send } from './provider.ts'
import { queuedRun, type RunRequest, scenarioOf } from './run-request.ts'
import type { Scenario } from './scenario.ts'
import type { PlaygroundRun } from './tables.ts'

const MAX_RUNNING = 4
const MAX_WAITING = 100

/** A run of this process that has not ended. */
interface Live {
  readonly run: PlaygroundRun
  /** When it was ordered, on the monotonic clock. */
  readonly tick: number
  readonly scenario: Scenario
  readonly administration: Administration
  readonly stop: AbortController
  readonly ended: PromiseWithResolvers<void>
}

type Ending = Pick<PlaygroundRun, 'status' | 'matched' | 'error'>

const unfinished = { status: { in: ['queued', 'running'] } } as const

/** The runs of a gateway: four at once, a hundred waiting. Storage holds the status of each; whoever changes it there ends the run. */
export class Runs {
  readonly #gateway: Gateway
  readonly #send: Send
  readonly #live = new Map<string, Live>()
  readonly #waiting: Live[] = []
  #running = 0

  constructor(gateway: Gateway, send: Send) {
    this.#gateway = gateway
    this.#send = send
  }

  /** Ends runs that no process performs any more: at the start, and when a process has died that shares the storage. */
  async open(): Promise<void> {
    this.#gateway
      .service('cluster')
      .get()
      ?.onEnded(() => this.#endLeft())
    await this.#endLeft()
  }

  async #endLeft(): Promise<void> {
    const cluster = this.#gateway.service('cluster').get()
    for await (const page of pages(this.#gateway.storage, 'playground_runs', { where: unfinished }))
      for (const { id, process } of page)
        if (cluster === undefined || (await cluster.hasDied(process))) await this.#end(id, interrupted())
  }

  /** Ends what is in progress; resolves when all of it is on record. */
  async close(): Promise<void> {
    await Promise.all(
      [...this.#live.values()].map(async (live) => {
        await this.#end(live.run.id, interrupted())
        this.#stop(live)
        await live.ended.promise
      }),
    )
  }

  /** Puts a run into the queue. Throws SCENARIO_NOT_FOUND, INVALID_REQUEST or PLAYGROUND_BUSY. */
  async start(order: RunRequest, administration: Administration): Promise<PlaygroundRun> {
    const scenario = scenarioOf(this.#gateway, order.scenario)
    const run = queuedRun(this.#gateway, scenario, order)
    if (this.#live.size >= MAX_RUNNING + MAX_WAITING) throw new GuardError(playgroundErrors.PLAYGROUND_BUSY)
    const tick = this.#gateway.clock.tick()
    const ends = { stop: new AbortController(), ended: Promise.withResolvers<void>() }
    const live: Live = { run, tick, scenario, administration, ...ends }
    this.#live.set(run.id, live)
    try {
      await this.#gateway.storage.put('playground_runs', run)
    } catch (error) {
      this.#forget(live)
      throw error
    }
    const { id, project_id, scenario_id, mode } = run
    const entry = { action: 'playground.started', subject: id, project_id, details: { scenario_id, mode } }
    await this.#gateway.service('audit').get()?.note(entry)
    this.#waiting.push(live)
    this.#next()
    return run
  }

  /** The run as it is. Throws PLAYGROUND_RUN_NOT_FOUND. */
  async need(id: string): Promise<PlaygroundRun> {
    const run = await this.#gateway.storage.get('playground_runs', id)
    if (run !== undefined) return run
    throw new GuardError(
      playgroundErrors.PLAYGROUND_RUN_NOT_FOUND,
      `There is no run "${id}". List them with GET /api/v1/playground/runs.`,
    )
  }

  /** Resolves when the run has ended, at once if it does not run. */
  async ended(id: string): Promise<void> {
    await this.#live.get(id)?.ended.promise
  }

  /** Ends a run; a step in progress continues, but is not reported. Throws PLAYGROUND_RUN_NOT_FOUND or PLAYGROUND_RUN_ENDED. */
  async cancel(id: string): Promise<PlaygroundRun> {
    const ended = await this.#end(id, { status: 'cancelled', matched: null, error: null })
    const run = await this.need(id)
    if (!ended)
      throw new GuardError(
        playgroundErrors.PLAYGROUND_RUN_ENDED,
        `The run "${id}" has ended already: it is ${run.status}.`,
      )
    const live = this.#live.get(id)
    if (live !== undefined) this.#stop(live)
    const { project_id } = run
    await this.#gateway.service('audit').get()?.note({ action: 'playground.cancelled', subject: id, project_id })
    return run
  }

  #next(): void {
    while (this.#running < MAX_RUNNING) {
      const live = this.#waiting.shift()
      if (live === undefined) return
      this.#running++
      void this.#run(live).finally(() => {
        this.#running--
        this.#forget(live)
        this.#next()
      })
    }
  }

  /** Never rejects. */
  async #run(live: Live): Promise<void> {
    const { run, stop } = live
    try {
      stop.signal.throwIfAborted()
      const ending = await this.#perform(live)
      await this.#end(run.id, ending)
    } catch (error) {
      if (stop.signal.aborted) return
      if (!(error instanceof GuardError)) this.#gateway.fault(error, 'playground')
      await this.#end(run.id, failed(error)).catch((lost) => this.#gateway.fault(lost, 'playground'))
    }
  }

  async #perform({ run, scenario, administration, stop }: Live): Promise<Ending> {
    const { id, mode, style, pace_ms } = run
    const change = async (changes: Partial<PlaygroundRun>, status: PlaygroundRun['status']): Promise<void> => {
      if (await this.#gateway.storage.patch('playground_runs', id, changes, { status })) return
      stop.abort()
      stop.signal.throwIfAborted()
    }
    await change({ status: 'running', started_at: this.#now(id) }, 'queued')
    const { runSteps } = await import('./run-steps.ts')
    const steps = await runSteps(
      { gateway: this.#gateway, send: this.#send, administration },
      {
        scenario_id: scenario.id,
        mode,
        style,
        names: namesOf(scenario, id),
        between: async () => {
          stop.signal.throwIfAborted()
          if (pace_ms > 0) await wait(pace_ms, undefined, { signal: stop.signal })
        },
        progress: (done, session_id) => change({ steps: done, steps_done: done.length, session_id }, 'running'),
      },
      scenario,
    )
    return { status: 'completed', matched: steps.every(({ matched }) => matched), error: null }
  }

  /** Wall time, of a run that is in progress counted from when it was ordered. */
  #now(id: string): number {
    const { clock } = this.#gateway
    const live = this.#live.get(id)
    return live === undefined ? clock.now() : timeSince(clock, { at: live.run.created_at, tick: live.tick })
  }

  /** Puts a run's end on record; false if it has ended before, or is not known. */
  #end(id: string, ending: Ending): Promise<boolean> {
    const changes = { ...ending, ended_at: this.#now(id) }
    return this.#gateway.storage.patch('playground_runs', id, changes, unfinished)
  }

  /** Makes a run end after the step it is at, and one that waits at once. */
  #stop(live: Live): void {
    live.stop.abort()
    const place = this.#waiting.indexOf(live)
    if (place === -1) return
    this.#waiting.splice(place, 1)
    this.#forget(live)
  }

  #forget(live: Live): void {
    this.#live.delete(live.run.id)
    live.ended.resolve()
  }
}

const failed = (error: unknown): Ending => {
  const { code, message } = errorBody(error)
  return { status: 'failed', matched: null, error: { code, message } }
}

const interrupted = (): Ending => failed(new GuardError(playgroundErrors.INTERRUPTED))
