import { join } from 'node:path'
import type { Agent } from './agent.ts'
import { GATEWAY_KEY, guard, PROVIDER_KEY } from './gateway.ts'
import { type Room, type Stage, writeAll } from './stage.ts'

/**
 * How an agent comes to its model. `own`: by its own settings; `bare`: the same, without a gateway; `run`: by
 * `guard run`; `profile`: by what `guard setup` writes and says.
 */
export type Way = 'own' | 'bare' | 'run' | 'profile'

/** A room for an agent, and the command line that a user would type in it. */
export const enter = async (stage: Stage, agent: Agent, way: Way, task: string): Promise<[Room, readonly string[]]> => {
  if (way === 'run' || way === 'profile') {
    const room = await stage.room(agent)
    const config = ['--config', join(stage.folder, 'guard-config.yml')]
    return [room, way === 'run' ? byRun(agent, task, config) : await byProfile(room, agent, task, config)]
  }
  const [address, key] = way === 'own' ? [stage.gateway.address, GATEWAY_KEY] : [stage.upstream, PROVIDER_KEY]
  const bare = await stage.room(agent)
  const { args = [], env = {}, files = {}, login } = agent.point({ address, key, home: bare.home })
  await writeAll(bare.home, files)
  Object.assign(bare.env, env)
  if (login !== undefined) await bare.run([agent.command, ...login], LOGIN_MS)
  return [bare, [agent.command, ...args, ...agent.args(task)]]
}

const LOGIN_MS = 30_000

const byRun = (agent: Agent, task: string, config: readonly string[]): readonly string[] => [
  ...guard,
  'run',
  ...config,
  '--model',
  agent.model,
  '--',
  agent.command,
  ...agent.args(task),
]

const byProfile = async (
  room: Room,
  agent: Agent,
  task: string,
  config: readonly string[],
): Promise<readonly string[]> => {
  const words = [...guard, 'setup', agent.id, ...config, '--model', agent.model, '--json']
  const { text } = await room.run(words, LOGIN_MS)
  const { clients } = JSON.parse(text) as { clients: { use: string[] }[] }
  const lines = clients[0]?.use ?? []
  return ['sh', '-ec', `mkdir -p "$HOME/.codex"; ${lines.join('; ')} "$@"`, 'sh', ...agent.args(task)]
}
