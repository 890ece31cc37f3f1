import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Agent } from './agent.ts'
import { type RunningGateway, startGateway } from './gateway.ts'
import { placeOf } from './install.ts'
import { type Ended, run } from './process.ts'
import { AgentProvider } from './provider.ts'
import { project } from './scripts.ts'

/** An empty home and a small project, for one run of an agent. */
export interface Room {
  readonly home: string
  /** Its folder for temporary files. */
  readonly tmp: string
  readonly project: string
  readonly env: Record<string, string>
  run(words: readonly string[], limit: number): Promise<Ended>
}

/** A provider and a gateway in front of it that enforces the recommended rules. */
export interface Stage {
  readonly provider: AgentProvider
  /** Of the provider itself. */
  readonly upstream: string
  readonly gateway: RunningGateway
  /** Folder of the gateway, with its configuration. */
  readonly folder: string
  room(agent: Agent): Promise<Room>
  close(): Promise<void>
}

const allStyles = ['messages', 'responses', 'chat_completions', 'gemini']

/** Sets everything up in a temporary folder; `installed` is where the agents are, `styles` what the provider has. */
export const setStage = async (installed: string, styles: readonly string[] = allStyles): Promise<Stage> => {
  const root = await mkdtemp(join(tmpdir(), 'guard-agents-'))
  const folder = join(root, 'gateway')
  const provider = new AgentProvider()
  const upstream = await provider.listen()
  const gateway = await startGateway(folder, upstream, styles)
  let rooms = 0
  return {
    provider,
    upstream,
    gateway,
    folder,
    room: async (agent) => {
      const place = join(root, `room-${++rooms}`)
      const [home, work, tmp] = [join(place, 'home'), join(place, 'project'), join(place, 'tmp')]
      await writeAll(home, {})
      await writeAll(tmp, {})
      await writeAll(work, project)
      const env: Record<string, string> = {
        PATH: [
          join(placeOf(installed, agent), 'node_modules/.bin'),
          dirname(process.execPath),
          '/usr/bin',
          '/bin',
        ].join(':'),
        HOME: home,
        TMPDIR: tmp,
        TERM: 'dumb',
        LANG: 'C.UTF-8',
        ...agent.env,
      }
      return { home, tmp, project: work, env, run: (words, limit) => run(words, work, env, limit) }
    },
    close: async () => {
      await gateway.close()
      provider.close()
      await rm(root, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Writes files below a folder, which is made. */
export const writeAll = async (folder: string, files: Readonly<Record<string, string>>): Promise<void> => {
  await mkdir(folder, { recursive: true })
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}
