import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Child } from '../load/child.ts'
import { KEY } from '../load/gateway-process.ts'
import type { RunResult } from '../load/generator.ts'
import { recordedIn } from '../load/record.ts'
import type { Shape } from '../load/shapes.ts'
import { programFile } from '../programs.ts'
import { Daemon } from './daemon.ts'
import type { DaemonProgram } from './programs.ts'

/** Provider, client and folder of a run, and the targets that are started in it. */
export class DaemonSetup {
  readonly programs: readonly DaemonProgram[]
  readonly upstream: number
  readonly provider: Child
  readonly generator: Child
  /** Reasons to distrust the run. */
  readonly failures: string[] = []
  readonly #folder: string
  #starts = 0
  #sets = 0

  private constructor(
    programs: readonly DaemonProgram[],
    folder: string,
    children: readonly [Child, Child],
    upstream: number,
  ) {
    this.programs = programs
    this.#folder = folder
    this.provider = children[0]
    this.generator = children[1]
    this.upstream = upstream
  }

  static async start(programs: readonly DaemonProgram[]): Promise<DaemonSetup> {
    const folder = await mkdtemp(join(tmpdir(), 'guard-bench-'))
    const provider = new Child('provider', programFile('bench/load/provider'))
    const generator = new Child('generator', programFile('bench/load/generator'))
    const upstream = await provider.request('listen', { upstream: 0 })
    return new DaemonSetup(programs, folder, [provider, generator], upstream)
  }

  /** Starts a target in a folder of its own. All its starts share what they compiled. */
  launch(program: DaemonProgram): Promise<Daemon> {
    const folder = join(this.#folder, `${program.name}-${this.#starts++}`)
    return Daemon.start(program, this.upstream, folder, join(this.#folder, 'cache'))
  }

  /** Starts and ends every target, so that later starts find their compiled code: to strip types takes 18 MB. */
  async warmUp(): Promise<void> {
    for (const program of this.programs) await (await this.launch(program)).stop()
  }

  /** Starts all targets for some work, ends them, and compares what was sent with what they recorded. */
  async withFleet<T>(work: (fleet: Fleet) => Promise<T>): Promise<T> {
    const daemons: Daemon[] = []
    try {
      for (const program of this.programs) daemons.push(await this.launch(program))
      const fleet = new Fleet(this, daemons)
      const result = await work(fleet)
      for (const daemon of daemons) {
        await daemon.stop()
        if (daemon.program.keepsRecords) this.#compare(daemon, fleet.sentTo(daemon))
      }
      return result
    } finally {
      await Promise.all(daemons.map((daemon) => daemon.stop()))
      await Promise.all(daemons.map(({ folder }) => rm(folder, { recursive: true, force: true })))
    }
  }

  #compare({ program: { name }, folder }: Daemon, sent: number): void {
    const { requests, other } = recordedIn(join(folder, 'guard.db'))
    if (requests !== sent) this.failures.push(`${name}: ${sent} requests were sent, ${requests} are on record`)
    for (const [outcome, count] of Object.entries(other))
      this.failures.push(`${name}: ${count} requests are on record with the outcome ${outcome}`)
  }

  nextSet(): number {
    return this.#sets++
  }

  async close(): Promise<void> {
    await Promise.all([this.provider.stop(), this.generator.stop()])
    await rm(this.#folder, { recursive: true, force: true })
  }
}

/** The targets, all started and none asked so far. */
export class Fleet {
  readonly setup: DaemonSetup
  readonly daemons: readonly Daemon[]
  readonly #sent = new Map<Daemon, number>()

  constructor(setup: DaemonSetup, daemons: readonly Daemon[]) {
    this.setup = setup
    this.daemons = daemons
  }

  sentTo(daemon: Daemon): number {
    return this.#sent.get(daemon) ?? 0
  }

  /** Opens connections to a target, or to the provider itself. Resolves to their number. */
  async open(daemon: Daemon | 'provider', shape: Shape, connections = shape.connections): Promise<number> {
    const { provider, generator, upstream } = this.setup
    const [port, headers] =
      daemon === 'provider' ? [upstream, {}] : [daemon.port, daemon.program.headers(shape, upstream)]
    const set = this.setup.nextSet()
    await provider.request('plan', { reply: shape.reply })
    await generator.request('open', {
      ...{ shape: shape.id, reply: shape.reply, ports: [port], key: KEY, set, connections, headers },
    })
    return set
  }

  /** Sends requests of a shape to one target, as fast as it answers. */
  async load(daemon: Daemon, shape: Shape, requests: number): Promise<RunResult> {
    const { generator, failures } = this.setup
    const set = await this.open(daemon, shape, Math.min(shape.connections, requests))
    const result = await generator.request('run', { set, requests })
    await generator.request('close', { set })
    this.count(daemon, requests)
    if (result.failed > 0)
      failures.push(
        `${daemon.program.name}, ${shape.id}: ${result.failed} requests failed: ${result.errors.join('; ')}`,
      )
    return result
  }

  count(daemon: Daemon, requests: number): void {
    this.#sent.set(daemon, this.sentTo(daemon) + requests)
  }
}
