import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type GatewayProgram, programFile } from '../programs.ts'
import { Child } from './child.ts'
import { type Start, startGateway } from './gateway-process.ts'

/** A measured process and its port. */
export interface Target {
  readonly name: 'raw' | 'gateway' | 'reference'
  readonly child: Child
  readonly port: number
}

/** The processes of a load run, and the folder with the configuration and database of the gateway. */
export interface LoadSetup {
  readonly provider: Child
  readonly generator: Child
  readonly targets: readonly Target[]
  readonly database: string
  /** Ends the gateway first, so that its database is complete, then the others. */
  stop(): Promise<void>
  /** Removes the folder. */
  remove(): Promise<void>
}

/** Starts provider, baseline, gateway, generator, and the gateway of another checkout if there is one. */
export const startLoadSetup = async (other?: GatewayProgram): Promise<LoadSetup> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-bench-'))
  const children: Child[] = []
  const start: Start = (...args) => {
    const child = new Child(...args)
    children.push(child)
    return child
  }
  const stop = async () => {
    // the gateway starts last and ends first, so that it settles all its requests
    await children.at(-1)?.stop()
    await Promise.all(children.map((child) => child.stop()))
  }
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const provider = start('provider', programFile('bench/load/provider'))
    const raw = start('raw', programFile('bench/load/passthrough'))
    const generator = start('generator', programFile('bench/load/generator'))
    const upstream = await provider.request('listen', { upstream: 0 })
    const settings = { upstream, storage: 'file: guard.db' }
    const targets: Target[] = [{ name: 'raw', child: raw, port: await raw.request('listen', { upstream }) }]
    if (other !== undefined) {
      const own = join(folder, 'reference')
      await mkdir(own)
      targets.push({ name: 'reference', ...(await startGateway(start, 'reference', own, settings, other)) })
    }
    targets.push({ name: 'gateway', ...(await startGateway(start, 'gateway', folder, settings)) })
    return { provider, generator, targets, database: join(folder, 'guard.db'), stop, remove }
  } catch (error) {
    await stop()
    await remove()
    throw error
  }
}
